"""The values of a model, kept for it while one of Keras's loops has them.

Keras takes the arrays out of a model's variables when a loop begins, hands them from
step to step, and puts them back when the loop is done. A loop that an error or Ctrl-C
ends has no such moment, and without this the model would be left without values.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Generator
from typing import Any

import jax

from replax._src.keras import internals

__all__ = ["kept", "note", "noting"]

Step = Callable[[Any, Any], Any]

# The latest state of a model's loop: a list of arrays for each kind of variable.
_latest: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def note(model: Any, state: Any) -> None:
    """Keeps the latest state of a model's loop."""
    _latest[model] = state


def noting(model: Any, step: Step) -> Step:
    """What calls ``step``, and keeps the state that it takes and gives."""

    def noted(state: Any, data: Any) -> Any:
        _latest[model] = state
        outputs, state = step(state, data)
        _latest[model] = state
        return outputs, state

    return noted


@contextlib.contextmanager
def kept(model: Any, readable: Callable[[Any], Any]) -> Generator[None]:
    """Gives variables that a loop leaves without values the last ones that it had.

    Args:
      model: The model of the loop.
      readable: What a variable has of the array of a loop.
    """
    try:
        yield
    except BaseException:
        _give_back(model, readable)
        raise
    finally:
        _latest.pop(model, None)


def _give_back(model: Any, readable: Callable[[Any], Any]) -> None:
    state = _latest.get(model, ())
    kinds = internals.kinds_of_state(model, len(state))
    for variables, arrays in zip(kinds, state, strict=True):
        for variable, array in zip(variables, arrays, strict=True):
            if not _is_there(internals.raw_value(variable)) and _is_there(array):
                internals.set_raw_value(variable, readable(array))


def _is_there(value: Any) -> bool:
    """Whether an array still has its memory, which a step takes for its results."""
    return value is not None and not (
        isinstance(value, jax.Array) and value.is_deleted()
    )
