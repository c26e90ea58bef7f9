"""What Keras is told of strategies, once it is there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import keras

from replax._src.keras import models, replica
from replax._src.keras.distribution import distributed
from replax._src.replica.scope import Place

__all__ = ["scope", "step"]

_is_on_jax = keras.config.backend() == "jax"

models.install()
if _is_on_jax:
    replica.install()


def scope(place: Place) -> contextlib.AbstractContextManager[None]:
    """The scope of a strategy: variables of Keras are made on its replicas."""
    return distributed(place.topology) if _is_on_jax else contextlib.nullcontext()


def step(function: Callable[..., Any]) -> Callable[..., Any]:
    """A step with Keras's variables those of the replica that runs it."""
    return replica.stepping(function) if _is_on_jax else function
