"""Going on with a dataset from wherever it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jax
import numpy as np


def nest_equal(first: Any, second: Any) -> bool:
    """Whether two elements are the same: structure, dtypes, and values."""
    if jax.tree.structure(first) != jax.tree.structure(second):
        return False
    pairs = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    return all(
        np.asarray(a).dtype == np.asarray(b).dtype and np.array_equal(a, b)
        for a, b in pairs
    )


def check_positions(make: Callable[[], Any]) -> list[Any]:
    """Saves a position before every element, and goes on from it in a new dataset.

    Gives the elements.
    """
    iterator = iter(make())
    states = [json.dumps(iterator.get_state())]
    elements: list[Any] = []
    for element in iterator:
        elements.append(element)
        states.append(json.dumps(iterator.get_state()))
    states.append(json.dumps(iterator.get_state()))
    for number, state in enumerate(states):
        other = iter(make())
        other.set_state(json.loads(state))
        rest = list(other)
        wanted = elements[number:]
        assert len(rest) == len(wanted), (number, rest, wanted)
        assert all(map(nest_equal, rest, wanted)), (number, rest, wanted)
        other.close()
    return elements
