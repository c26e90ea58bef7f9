"""Keras as TensorFlow has it, on JAX; importing this imports Keras."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

__all__ = ["attribute", "names"]

_VARIABLE = "KERAS_BACKEND"


def _imported() -> Any:
    """Keras with the names that it has for TensorFlow's ``tf.keras``."""
    if "keras" not in sys.modules:
        backend = os.environ.setdefault(_VARIABLE, "jax")
        if backend != "jax":
            msg = (
                f"tf.keras is asked for with the environment variable {_VARIABLE}="
                f"{backend}, but strategies reach Keras on JAX only; set {_VARIABLE}="
                f"jax, or leave it out"
            )
            raise RuntimeError(msg)
    backend = importlib.import_module("keras").config.backend()
    if backend != "jax":
        msg = (
            f"tf.keras is asked for, but Keras has been imported on {backend!r}, and "
            f"strategies reach it on JAX only; set the environment variable "
            f"{_VARIABLE}=jax before Keras is imported"
        )
        raise RuntimeError(msg)
    # What TensorFlow shows as tf.keras: Keras, and older names such as Reduction.
    return importlib.import_module("keras._tf_keras.keras")


_keras = _imported()


def attribute(module: str, name: str) -> Any:
    """What ``__getattr__`` of a module of the facade gives.

    Args:
      module: The module that is asked; what follows ``keras`` in its name counts.
      name: The name it is asked for.

    Raises:
      AttributeError: Keras does not have it either.
    """
    found = getattr(_of(module), name, None)
    if found is None or name.startswith("_"):
        msg = f"module {module!r} has no attribute {name!r}, and neither has Keras"
        raise AttributeError(msg)
    return found


def names(module: str, own: list[str]) -> list[str]:
    """What ``__dir__`` of a module of the facade gives.

    Args:
      module: The module that is asked.
      own: The names that are in it.
    """
    return sorted({*own, *(n for n in dir(_of(module)) if not n.startswith("_"))})


def _of(module: str) -> Any:
    """The module of Keras in whose place one of the facade stands."""
    found = _keras
    for part in module.rsplit(".keras", maxsplit=1)[-1].split(".")[1:]:
        found = getattr(found, part, None)
    return found
