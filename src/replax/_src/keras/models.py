"""Which strategy a model trains with, and the methods of Keras's models that ask.

A model belongs to the strategy in whose scope it was created. Keras has no way to be
told of that, so the methods with which a model is created, trained and asked are
replaced on ``keras.Model``, once; for a model without a strategy they do what they did.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import keras

from replax._src.keras import looping
from replax._src.keras.data import is_ours
from replax._src.replica import scope
from replax._src.strategies.current import get_strategy
from replax._src.strategies.strategy import Strategy

__all__ = ["install", "strategy_of"]

_strategies: weakref.WeakKeyDictionary[Any, Strategy] = weakref.WeakKeyDictionary()


def strategy_of(model: Any) -> Strategy | None:
    """The strategy that a model was created for, or whose scope it is used in."""
    known = _strategies.get(model)
    if known is not None:
        return known
    here = scope.current()
    return None if here is None or here.is_default else here.strategy


def _created_in_scope(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def create(cls: type[Any], *args: Any, **kwargs: Any) -> Any:
        here = scope.current()
        model = original(cls, *args, **kwargs)
        if here is None or here.is_default:
            return model
        if keras.config.backend() != "jax":
            msg = (
                f"a Keras model is created in the scope of {here.strategy!r}, but "
                f"Keras runs on {keras.config.backend()!r}, which strategies cannot "
                f"reach; set the environment variable KERAS_BACKEND=jax before Keras "
                f"is imported"
            )
            raise RuntimeError(msg)
        _strategies[model] = here.strategy
        return model

    return create


def _for_strategy(
    original: Callable[..., Any], ours: Callable[..., Any]
) -> Callable[..., Any]:
    """A method that is ``ours`` for models of a strategy."""

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        strategy = strategy_of(self)
        if strategy is None:
            given = (*args, *kwargs.values())
            if not any(map(is_ours, given)):
                return original(self, *args, **kwargs)
            strategy = get_strategy()
        return ours(strategy, original, self, *args, **kwargs)

    return method


@functools.cache
def install() -> None:
    """Replaces the methods; only the first call does anything."""
    model: Any = keras.Model
    model.__new__ = staticmethod(_created_in_scope(model.__new__))
    if keras.config.backend() != "jax":
        return
    for name, ours in looping.METHODS.items():
        setattr(model, name, _for_strategy(getattr(model, name), ours))
