"""What the layers have in common: names, configurations, and their two forms."""

from __future__ import annotations

import abc
import re
import sys
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import jax.numpy as jnp
import numpy as np

__all__ = ["PreprocessingLayer"]

# What Keras says in the configuration of each of its layers.
_BASE = ("name", "trainable", "dtype")


class PreprocessingLayer(abc.ABC):
    """Prepares data, on the host or on devices, and can be a layer of a Keras model.

    It keeps what it has learned in NumPy arrays, and no variables. Arrays of the host
    make arrays of the host, and JAX's arrays make JAX's.

    In a program that has imported Keras, with JAX as its backend, an instance is a
    ``keras.layers.Layer`` that does the same, as a ``pathlib.Path`` is a ``PosixPath``.
    """

    # What results have if nothing else is asked for.
    default_dtype: ClassVar[str] = "float32"

    def __init_subclass__(cls, *, is_base: bool = False) -> None:
        super().__init_subclass__()
        if not is_base:
            # Keras makes a layer of a saved model only if it knows its class.
            _keras_form(cls)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        form = _keras_form(cls)
        if form is None:
            return super().__new__(cls)
        # So that isinstance says what people expect.
        cls.register(form)
        return form(*args, **kwargs)

    def __init__(
        self, name: str | None = None, dtype: Any = None, *, trainable: bool = True
    ) -> None:
        self.name = name or _snake_case(type(self).__name__)
        self.trainable = trainable
        self._dtype = _dtype_named(dtype or self.default_dtype)

    @property
    def dtype(self) -> str:
        """The name of the dtype of what it computes."""
        return self._dtype.name

    @abc.abstractmethod
    def __call__(self, inputs: Any) -> Any:
        """What it makes of a batch, or of one value."""

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """What ``from_config`` makes the same layer of, as JSON can hold it.

        What the layer has learned is part of it.
        """

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """A layer of what ``get_config`` has returned.

        Args:
          config: It; that of Keras's layer of the same name is taken too.
        """
        return cls(**config)

    def _base_config(self) -> dict[str, Any]:
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}

    def __reduce__(self) -> tuple[Any, ...]:
        # By its configuration: what comes out is a layer of Keras only where Keras is
        # used, which it is not in the worker processes of a pipeline.
        return _made, (type(self), self.get_config())

    def __repr__(self) -> str:
        given = ", ".join(
            f"{key}={_shortened(value)}"
            for key, value in self.get_config().items()
            if key not in _BASE and value is not None
        )
        return f"{type(self).__name__}({given})"


def _keras_form(cls: type[PreprocessingLayer]) -> Any:
    """The class of the layers of Keras that do the same; None if Keras is not used."""
    if "keras" not in sys.modules:
        return None
    # Not before: most pipelines need no Keras, and it takes a second to load.
    from replax._src.preprocessing import in_models  # noqa: PLC0415

    return in_models.keras_form(cls) if in_models.is_on_jax() else None


def _made(cls: type[PreprocessingLayer], config: dict[str, Any]) -> PreprocessingLayer:
    return cls.from_config(config)


def _snake_case(name: str) -> str:
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _dtype_named(dtype: Any) -> np.dtype:
    """The dtype, of its name or of a policy of Keras as its configurations hold it."""
    if isinstance(dtype, Mapping):
        dtype = dtype["config"]["name"]
    name = getattr(dtype, "compute_dtype", dtype)
    if isinstance(name, str):
        name = name.removeprefix("mixed_")
    return jnp.dtype(name)
