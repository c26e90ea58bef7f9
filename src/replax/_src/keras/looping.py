"""Keras's loops over models that belong to a strategy.

The loops are Keras's own: callbacks, metrics, epochs and progress are what they are
without a strategy. Before one begins, its data are wrapped so that batches come on the
devices of the replicas, and variables that are missing are made on all of them. What it
calls for each step is compiled for the replicas.
"""

from __future__ import annotations

import contextlib
import inspect
import weakref
from collections.abc import Callable, Generator
from typing import Any

import jax
import keras
import numpy as np

from replax._src.cluster.agreement import written
from replax._src.keras import functions, internals
from replax._src.keras.data import adapter, is_ours
from replax._src.keras.distribution import distributed, undistributed
from replax._src.keras.functions import local_copy
from replax._src.keras.keeping import kept
from replax._src.strategies.strategy import Strategy
from replax._src.topology.topology import Topology
from replax._src.values.from_first import from_first_process

__all__ = ["METHODS"]

Original = Callable[..., Any]


def _arguments(original: Original, model: Any, args: Any, kwargs: Any) -> Any:
    bound = inspect.signature(original).bind(model, *args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def _taken(
    strategy: Strategy, named: dict[str, Any], *others: str, steps: str
) -> dict[str, Any]:
    """The arguments of a loop with its data wrapped, so that nothing is left to say.

    Args:
      strategy: Whose replicas train.
      named: The arguments.
      others: Those that say something about the data, besides the steps.
      steps: How the number of steps is called.
    """
    given = {"shuffle": False, **{name: named[name] for name in others}}
    x = adapter(strategy, named["x"], steps_per_epoch=named[steps], **given)
    return {**named, **dict.fromkeys(others), "x": x}


@contextlib.contextmanager
def _running(
    strategy: Strategy, model: Any, like: Callable[[], Any], *, to_train: bool = True
) -> Generator[None]:
    """The scope of a loop over a model; all variables are there in it.

    Args:
      strategy: Whose replicas train.
      model: The model.
      like: Says what a batch looks like, if the model has no variables yet.
      to_train: Whether losses and metrics are needed too.
    """
    if strategy.place.is_default:
        yield  # Keras's own loop over a dataset of ours
        return
    with strategy.scope():
        to_train = to_train and model.compiled  # Keras says that it is not
        if not internals.is_built(model, to_train=to_train):
            with distributed(strategy.place.topology):
                if to_train:
                    internals.build_for_training(model, like())
                else:
                    internals.build_for_prediction(model, like())
        _start_alike(model, strategy.place.topology)
        with undistributed(), kept(model, local_copy):
            yield


# Models that begin with the same values in all processes.
_alike: weakref.WeakSet[Any] = weakref.WeakSet()


def _start_alike(model: Any, topology: Topology) -> None:
    """Gives a model's variables, in all processes, the values of the first one."""
    if topology.agreement is None or model in _alike:
        return
    variables = list(model.variables)
    if getattr(model, "optimizer", None) is not None:
        variables += model.optimizer.variables
    values = [local_copy(variable.value) for variable in variables]
    for variable, value in zip(
        variables, from_first_process(values, topology, "a model"), strict=True
    ):
        variable.assign(value)
    _alike.add(model)


def _shuffle_alike(topology: Topology) -> None:
    """Lets all processes draw the same numbers: Keras shuffles arrays with NumPy's."""
    if topology.agreement is None:
        return
    drawn = str(np.random.randint(2**31))  # noqa: NPY002  # the state that Keras uses
    said = topology.agreement.exchange(written("shuffling arrays"), drawn)
    np.random.seed(int(said[0]))  # noqa: NPY002


def _verbosity(strategy: Strategy, named: dict[str, Any]) -> Any:
    """How much a loop prints: of several processes only the first one does."""
    return named["verbose"] if strategy.place.topology.process_index == 0 else 0


def _fit(
    strategy: Strategy, original: Original, model: Any, *args: Any, **kwargs: Any
) -> Any:
    named = _arguments(original, model, args, kwargs)
    _split_validation(named)
    if named["validation_data"] is not None:
        unpack: Any = keras.utils.unpack_x_y_sample_weight
        x, y, weight = unpack(named["validation_data"])
        named["validation_data"] = adapter(
            strategy,
            x,
            y=y,
            sample_weight=weight,
            batch_size=named["validation_batch_size"] or named["batch_size"],
            steps_per_epoch=named["validation_steps"],
        )
    shuffles = named["shuffle"] and not is_ours(named["x"])
    about = ("y", "sample_weight", "batch_size", "class_weight", "shuffle")
    named = _taken(strategy, named, *about, steps="steps_per_epoch")
    named["verbose"] = _verbosity(strategy, named)
    with _running(strategy, model, named["x"].batch_like):
        if shuffles:
            _shuffle_alike(strategy.place.topology)
        return original(**named)


def _split_validation(named: dict[str, Any]) -> None:
    """Takes the last part of the rows for validation, as Keras does."""
    share = named["validation_split"]
    if not share or named["validation_data"] is not None:
        return
    data = (named["x"], named["y"], named["sample_weight"])
    split: Any = internals.train_validation_split
    (x, y, weight), named["validation_data"] = split(data, validation_split=share)
    named.update(x=x, y=y, sample_weight=weight, validation_split=0.0)


def _evaluate(
    strategy: Strategy, original: Original, model: Any, *args: Any, **kwargs: Any
) -> Any:
    cached = {"_use_cached_eval_dataset": kwargs.pop("_use_cached_eval_dataset", False)}
    named = _arguments(original, model, args, kwargs)
    if named.pop("kwargs", None):
        return original(model, *args, **kwargs)  # says which ones it does not know
    named = _taken(strategy, named, "y", "sample_weight", "batch_size", steps="steps")
    named["verbose"] = _verbosity(strategy, named)
    with _running(strategy, model, named["x"].batch_like):
        return original(**named, **cached)


def _predict(
    strategy: Strategy, original: Original, model: Any, *args: Any, **kwargs: Any
) -> Any:
    named = _arguments(original, model, args, kwargs)
    named = _taken(strategy, named, "batch_size", steps="steps")
    named["verbose"] = _verbosity(strategy, named)
    with _running(strategy, model, named["x"].batch_like, to_train=False):
        return original(**named)


def _on_batch(
    strategy: Strategy, original: Original, model: Any, *args: Any, **kwargs: Any
) -> Any:
    named = _arguments(original, model, args, kwargs)
    parts = [named.get(name) for name in ("x", "y", "sample_weight")]

    def like() -> Any:
        return tuple(jax.tree.map(np.asarray, part) for part in parts)

    with _running(strategy, model, like, to_train="y" in named):
        return original(**named)


def _state_sync(strategy: Strategy, original: Original, model: Any) -> Any:
    """Gives the variables what the steps made of them, each process its copy."""
    if strategy.place.topology.agreement is not None:
        internals.map_loop_state(model, local_copy)
    return original(model)


def _make_function(
    name: str, make: Callable[..., Any]
) -> Callable[[Strategy, Original, Any, bool], Any]:
    def method(
        strategy: Strategy,
        original: Original,
        model: Any,
        force: bool = False,  # noqa: FBT001, FBT002  # as Keras has it
    ) -> Any:
        del original
        if getattr(model, name) is None or force:
            setattr(model, name, make(model, strategy.place.topology))
        return getattr(model, name)

    return method


# The methods of `keras.Model` that are other ones for models of a strategy.
METHODS: dict[str, Callable[..., Any]] = {
    "fit": _fit,
    "evaluate": _evaluate,
    "predict": _predict,
    "train_on_batch": _on_batch,
    "test_on_batch": _on_batch,
    "predict_on_batch": _on_batch,
    "jax_state_sync": _state_sync,
    "make_train_function": _make_function("train_function", functions.train_function),
    "make_test_function": _make_function("test_function", functions.test_function),
    "make_predict_function": _make_function(
        "predict_function", functions.predict_function
    ),
}
