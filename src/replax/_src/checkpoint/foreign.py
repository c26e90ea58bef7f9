"""Variables of other libraries, known by what they can do: Keras's, and Flax NNX's."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from replax._src.values.handle import Handle

__all__ = ["assign", "is_foreign_variable", "is_replaceable", "name_of", "value_of"]


def is_foreign_variable(value: Any) -> bool:
    """Whether it is another library's variable."""
    if isinstance(value, (Handle, type)) or not hasattr(value, "shape"):
        return False
    if is_replaceable(value):
        return True
    return callable(getattr(value, "assign", None)) and hasattr(value, "value")


def is_replaceable(value: Any) -> bool:
    """Whether it is a variable as NNX has them, in objects that are trees too."""
    kind: Any = type(value)
    return callable(getattr(kind, "get_value", None)) and callable(
        getattr(kind, "set_value", None)
    )


def value_of(variable: Any) -> Any:
    """Its array."""
    if is_replaceable(variable):
        return variable.get_value()
    value = variable.value
    return value() if callable(value) else value


def assign(variable: Any, value: Any) -> None:
    """Replaces its array."""
    if is_replaceable(variable):
        variable.set_value(jnp.asarray(value))
    else:
        variable.assign(value)


def name_of(variable: Any) -> str:
    """What it is called, if it is called anything."""
    name = getattr(variable, "path", None) or getattr(variable, "name", None)
    return name if isinstance(name, str) else type(variable).__name__
