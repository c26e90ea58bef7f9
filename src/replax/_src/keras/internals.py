"""The one place for names of Keras that are not public.

Each is what ``keras.Model.fit`` itself does; a test holds that they are there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

import keras
from keras.src import backend
from keras.src.backend.common import global_state
from keras.src.backend.common.variables import initialize_all_variables
from keras.src.trainers.data_adapters import get_data_adapter
from keras.src.trainers.data_adapters.array_slicing import train_validation_split
from keras.src.trainers.data_adapters.data_adapter import DataAdapter
from keras.src.trainers.data_adapters.data_adapter_utils import (
    class_weight_to_sample_weights,
)

__all__ = [
    "DataAdapter",
    "build_for_prediction",
    "build_for_training",
    "class_weight_to_sample_weights",
    "get_data_adapter",
    "initialize_all_variables",
    "is_built",
    "is_seed_state",
    "kinds_of_state",
    "make_function",
    "map_loop_state",
    "raw_value",
    "set_raw_value",
    "stateful",
    "train_validation_split",
]

_BATCH = ("x", "y", "sample_weight")


def is_built(model: Any, *, to_train: bool) -> bool:
    """Whether a model has its variables, and also what it was compiled with."""
    parts = [*model._flatten_layers()]  # noqa: SLF001
    if to_train:
        chosen = (model._compile_metrics, model._compile_loss, model.optimizer)  # noqa: SLF001
        parts += [part for part in chosen if part is not None]
    return all(part.built for part in parts)


def build_for_training(model: Any, batch: Any) -> None:
    """Makes the variables of a model, its metrics and its optimizer.

    Args:
      model: A compiled model.
      batch: What a batch looks like: a nest of things with a shape and a dtype.
    """
    model._symbolic_build(data_batch=batch)  # noqa: SLF001


def build_for_prediction(model: Any, batch: Any) -> None:
    """Makes the variables of a model; see :func:`build_for_training`."""
    x, _, _ = keras.utils.unpack_x_y_sample_weight(batch)
    symbolic = keras.tree.map_structure(
        lambda v: keras.KerasTensor(v.shape, backend.standardize_dtype(v.dtype)), x
    )
    backend.compute_output_spec(model, symbolic, training=False)


def make_function(model: Any, step: Any, *, concatenates: bool = False) -> Any:
    """What a model's loop calls: ``step`` for as many batches as an execution has."""
    return model._make_function(step, concatenate_outputs=concatenates)  # noqa: SLF001


@contextlib.contextmanager
def stateful() -> Generator[None]:
    """Lets Keras make variables, also in a stateless scope."""
    before = global_state.get_global_attribute("stateless_scope")
    global_state.set_global_attribute("stateless_scope", None)
    try:
        yield
    finally:
        global_state.set_global_attribute("stateless_scope", before)


def map_loop_state(model: Any, function: Any) -> None:
    """Changes the arrays that a loop will give to the variables of its model."""
    if getattr(model, "_jax_state", None):
        model._jax_state = keras.tree.map_structure(function, model._jax_state)  # noqa: SLF001


def kinds_of_state(model: Any, count: int) -> list[Any]:
    """The variables whose arrays a loop's state has, in its order.

    Args:
      model: The model.
      count: How many lists the state has: ``predict`` has two, ``evaluate`` three.
    """
    kinds = [model.trainable_variables, model.non_trainable_variables]
    if count > 3:  # only training changes the optimizer
        kinds.append(model.optimizer.variables)
    return [*kinds, model.metrics_variables][:count]


def raw_value(variable: Any) -> Any:
    """The array of a variable in any scope; None before it is made."""
    return variable._value  # noqa: SLF001


def set_raw_value(variable: Any, value: Any) -> None:
    """Replaces the array of a variable, whatever scope the code is in."""
    variable._value = value  # noqa: SLF001


def is_seed_state(variable: Any) -> bool:
    """Whether a variable is the state of a ``keras.random.SeedGenerator``."""
    return variable.name == "seed_generator_state" and variable.shape == (2,)
