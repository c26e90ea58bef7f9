"""The layers as layers of Keras; loaded in programs that have imported Keras."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import keras
import numpy as np

__all__ = ["is_on_jax", "keras_form"]


def is_on_jax() -> bool:
    """Whether Keras computes with JAX, so that its layers can be ours."""
    return keras.backend.backend() == "jax"


class InModels(keras.layers.Layer):
    """A layer of Keras that does what a layer of ours does.

    It has the attributes and methods of the other one, which it hands arrays to: those
    of the host as they are, so that Keras has no part in ``Dataset.map``.
    """

    # The class of the other one.
    plain_class: type[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        base = {key: kwargs.pop(key) for key in ("name", "trainable") if key in kwargs}
        dtype = kwargs.pop("dtype", None)
        # Made as where there is no Keras.
        plain = object.__new__(self.plain_class)
        policy = keras.dtype_policies.get(dtype)
        plain.__init__(
            *args, **kwargs, dtype=None if dtype is None else policy.compute_dtype
        )
        # The other one brings arrays to the dtype that it computes with.
        super().__init__(
            dtype=plain.dtype if dtype is None else dtype, autocast=False, **base
        )
        # Past Keras, which looks for variables in what its layers have.
        object.__setattr__(self, "plain", plain)
        self.built = True

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(inputs, keras.KerasTensor):
            self._require_numbers(inputs)
        elif _is_of_host(inputs):
            return self.plain(inputs, *args, **kwargs)
        return super().__call__(inputs, *args, **kwargs)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """What the layer makes of arrays on devices."""
        return self.plain(inputs, *args, **kwargs)

    def _require_numbers(self, inputs: Any) -> None:
        if inputs.dtype == "string":
            msg = (
                f"{type(self).__name__} got the model's input {inputs.name!r}, which "
                f"is of strings, and there are none on devices; use the layer in "
                f"Dataset.map, and give the model the numbers"
            )
            raise TypeError(msg)

    def __getattr__(self, name: str) -> Any:
        if name == "plain":
            raise AttributeError(name)
        return getattr(self.plain, name)

    def get_config(self) -> dict[str, Any]:
        """What ``from_config`` makes the same layer of."""
        return {**self.plain.get_config(), **super().get_config()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A layer of what ``get_config`` has returned."""
        return cls.plain_class.from_config(config)

    def __reduce__(self) -> tuple[Any, ...]:
        make, _ = self.plain.__reduce__()
        return make, (self.plain_class, self.get_config())


def _is_of_host(inputs: Any) -> bool:
    if isinstance(inputs, (list, tuple)):
        return bool(inputs) and _is_of_host(inputs[0])
    return isinstance(inputs, (np.ndarray, np.generic, str, bytes, int, float))


@functools.cache
def keras_form(plain_class: Any) -> type[InModels]:
    """The class of the layers of Keras that do what layers of a class of ours do."""
    form: Any = type(
        plain_class.__name__,
        (InModels,),
        {
            "plain_class": plain_class,
            "__doc__": plain_class.__doc__,
            # Where a saved model finds the class from which it is made.
            "__module__": "replax.keras.layers",
            "__signature__": inspect.signature(plain_class.__init__),
        },
    )
    keras.saving.register_keras_serializable("replax")(form)
    return form
