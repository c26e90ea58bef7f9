"""Making variables, and checking what is put into them."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from replax._src.core import host
from replax._src.core.errors import InvalidArgumentError
from replax._src.core.readable import read
from replax._src.replica import scope
from replax._src.topology.topology import Topology
from replax._src.values.distributed import Mirrored, PerReplica
from replax._src.values.vocabulary import (
    VariableAggregation,
    VariableSynchronization,
)

__all__ = ["Recipe", "checked_leaves", "create", "describe", "set_kinds"]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Everything that is needed to make a variable, checked.

    Attributes:
      treedef: Structure of the value.
      leaves: The initial arrays, strongly typed.
      name: For messages.
      trainable: Whether optimizers should change it.
      synchronization: ON_WRITE or ON_READ; AUTO too where there is one value.
      aggregation: How values of replicas become one.
      owned: Whether it belongs to a strategy.
    """

    treedef: jax.tree_util.PyTreeDef
    leaves: tuple[jax.Array, ...]
    name: str
    trainable: bool
    synchronization: VariableSynchronization
    aggregation: VariableAggregation
    owned: bool


class _Kinds(Protocol):
    """Makes the kind of variable that a recipe calls for."""

    def __call__(self, recipe: Recipe, topology: Topology) -> Any: ...


class _Registry:
    make: _Kinds


def set_kinds(make: _Kinds) -> None:
    """Says which class a recipe becomes; the classes are above this module."""
    _Registry.make = make


def create(
    initial_value: Any,
    trainable: bool | None = None,  # noqa: FBT001  # as in tf.Variable
    name: str | None = None,
    dtype: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """Makes a variable of the kind that the current scope calls for."""
    place = scope.current()
    is_one = place is None or place.topology.is_single
    synchronization = _checked_synchronization(synchronization, is_one=is_one)
    on_read = synchronization is VariableSynchronization.ON_READ
    _check_trainable(trainable=trainable, on_read=on_read)
    frame = scope.current_frame()
    if frame is not None:
        frame.creates_variable()
    if place is not None and place.exchange is not None:
        # One variable for all replicas, with the first one's initial value.
        return place.exchange.once(
            "creating a variable",
            lambda: create(
                initial_value, trainable, name, dtype, synchronization, aggregation
            ),
        )
    leaves, treedef = _initial_leaves(initial_value, dtype, name or "Variable")
    traced = any(isinstance(x, jax.core.Tracer) for x in leaves)
    _check_aggregation(VariableAggregation(aggregation), leaves)
    recipe = Recipe(
        treedef=treedef,
        leaves=tuple(map(_placeholder, leaves)) if traced else leaves,
        name=name or "Variable",
        trainable=not on_read if trainable is None else trainable,
        synchronization=synchronization,
        aggregation=VariableAggregation(aggregation),
        owned=place is not None and not place.is_default,
    )
    topology = place.topology if place is not None else Topology.of_default_device()
    with jax.ensure_compile_time_eval():
        variable = _Registry.make(recipe, topology)
    if traced:
        _initialise_later(variable, leaves)
    return variable


def _checked_synchronization(value: Any, *, is_one: bool) -> VariableSynchronization:
    synchronization = VariableSynchronization(value)
    if synchronization is VariableSynchronization.NONE:
        msg = (
            "synchronization is NONE, and a variable whose copies are never brought "
            "together has no one value; use AUTO, ON_WRITE or ON_READ"
        )
        raise ValueError(msg)
    if synchronization is VariableSynchronization.AUTO and not is_one:
        return VariableSynchronization.ON_WRITE
    return synchronization


def _check_trainable(*, trainable: bool | None, on_read: bool) -> None:
    if trainable and on_read:
        msg = (
            "trainable=True with synchronization=ON_READ: each replica would train a "
            "copy of its own; use ON_WRITE for parameters, or trainable=False"
        )
        raise ValueError(msg)


def _check_aggregation(
    aggregation: VariableAggregation, leaves: tuple[jax.Array, ...]
) -> None:
    if aggregation not in (VariableAggregation.MEAN, VariableAggregation.SUM):
        return
    for leaf in leaves:
        which = leaf.dtype.name
        if len(leaves) > 1:
            which += f" in one of its {len(leaves)} arrays"
        if host.is_key(leaf.dtype):
            msg = (
                f"aggregation is {aggregation.name} and the dtype is {which}, and keys "
                f"of random numbers have no {aggregation.name.lower()}; keep them in a "
                f"variable of their own, with aggregation=ONLY_FIRST_REPLICA"
            )
            raise ValueError(msg)
        if aggregation is VariableAggregation.MEAN and not jnp.issubdtype(
            leaf.dtype, jnp.inexact
        ):
            msg = (
                f"aggregation is MEAN and the dtype is {which}, which has no "
                f"mean of its own kind; use a float dtype, or aggregation=SUM"
            )
            if len(leaves) > 1:
                msg += ", or keep whole numbers in a variable of their own"
            raise ValueError(msg)


_COMPUTING = frozenset({"assign_add", "assign_sub"})

# What is empty by mistake if it is empty.
_PLAIN = frozenset({type(None), list, tuple, dict})


def _initial_leaves(
    initial_value: Any, dtype: Any, name: str
) -> tuple[tuple[jax.Array, ...], jax.tree_util.PyTreeDef]:
    with jax.ensure_compile_time_eval():
        value = initial_value() if callable(initial_value) else initial_value
        value = read(value.values[0] if isinstance(value, Mirrored) else value)
        leaves, treedef = jax.tree_util.tree_flatten(value, is_leaf=_is_whole)
        # The state of an optimizer may well be a structure without arrays.
        if not leaves and type(value) in _PLAIN and not value:
            msg = (
                f"variable {name!r} was given {value!r}, which holds no array; give an "
                f"array, a number, or a pytree of them"
            )
            raise ValueError(msg)
        return tuple(_initial_leaf(x, dtype, name) for x in leaves), treedef


def _is_whole(value: Any) -> bool:
    return isinstance(value, PerReplica) or _is_nested_numbers(value)


def _is_nested_numbers(value: Any) -> bool:
    """Whether ``value`` is a list of numbers, which stands for an array."""
    if not isinstance(value, list) or not value:
        return False
    first: Any = value[0]
    return host.is_number(first) or _is_nested_numbers(first)


def _initial_leaf(leaf: Any, dtype: Any, name: str) -> jax.Array:
    what = f"the initial value of variable {name!r}"
    if isinstance(leaf, PerReplica):
        msg = f"{what} is a PerReplica; reduce it, or take one of its values"
        raise TypeError(msg)
    if isinstance(leaf, list):
        leaf = _array_of(leaf)
    wanted = None if dtype is None else jax.dtypes.canonicalize_dtype(np.dtype(dtype))
    if wanted is not None and host.is_number(leaf) and _casts(type(leaf), wanted):
        return jnp.asarray(_number(leaf, wanted, what))
    value = host.canonical(leaf, what)
    if wanted is not None:
        value = value.astype(wanted)
    if isinstance(value, jax.core.Tracer):
        return jnp.asarray(value, dtype=value.dtype)
    return host.own_copy(value)


def _placeholder(leaf: jax.Array) -> jax.Array:
    with jax.ensure_compile_time_eval():
        return jnp.zeros(leaf.shape, leaf.dtype)


def _initialise_later(variable: Any, leaves: tuple[jax.Array, ...]) -> None:
    """Leaves it to the function being traced to compute the initial value."""
    frame = scope.current_frame()
    if frame is None:
        msg = (
            f"the initial value of variable {variable.name!r} is being traced, so that "
            f"it has no value yet; create the variable before the step, or give a "
            f"callable that computes its initial value: Variable(lambda: jnp.zeros(3))"
        )
        raise ValueError(msg)
    frame.initialise(variable, leaves)


def checked_leaves(value: Any, variable: Any, verb: str) -> tuple[Any, ...]:
    """The leaves of ``value``, if they fit the variable."""
    treedef, specs = variable.treedef, variable.specs
    if isinstance(value, PerReplica):
        msg = (
            f"{verb} of variable {variable.name!r} was given a PerReplica; reduce it "
            f"to one value first: strategy.reduce('MEAN', value, axis=None)"
        )
        raise TypeError(msg)
    value = read(value.values[0] if isinstance(value, Mirrored) else value)
    try:
        leaves = treedef.flatten_up_to(value)
    except ValueError:
        msg = (
            f"{verb} of variable {variable.name!r} was given the structure "
            f"{jax.tree_util.tree_structure(value)}, but its value has the structure "
            f"{treedef}; give a value of the same structure"
        )
        raise ValueError(msg) from None
    return tuple(
        _fitting(leaf, spec, variable.name, verb)
        for leaf, spec in zip(leaves, specs, strict=True)
    )


def _array_of(items: Any, dtype: Any = None) -> Any:
    """The array that a list stands for, of ``dtype`` if numbers are taken for it."""
    leaves = jax.tree_util.tree_leaves(items)
    if not all(map(host.is_number, leaves)):
        return jnp.stack([jnp.asarray(item) for item in items])
    array = np.array(items)
    if dtype is None or not _casts(array.dtype, dtype):
        return array
    return np.array(items, dtype)


def _casts(given: Any, dtype: Any) -> bool:
    """Whether numbers of a kind are taken for a dtype, if they fit in it."""
    whole = np.dtype(given).kind in "biu" and np.dtype(dtype).kind in "iu"
    return whole or np.can_cast(given, dtype, "same_kind")


def _fitting(leaf: Any, spec: jax.ShapeDtypeStruct, name: str, verb: str) -> Any:
    what = f"the value for {verb} of variable {name!r}"
    if isinstance(leaf, (list, tuple)):
        leaf = _array_of(leaf, spec.dtype)
        if isinstance(leaf, np.ndarray) and not _casts(leaf.dtype, spec.dtype):
            raise TypeError(_of_other_kind(what, leaf.tolist(), spec.dtype))
    if host.is_number(leaf):
        if not _casts(type(leaf), spec.dtype):
            raise TypeError(_of_other_kind(what, leaf, spec.dtype))
        array: Any = _number(leaf, spec.dtype, what)
    elif _is_of_numpy(leaf) and _casts(leaf.dtype, spec.dtype):
        # NumPy computes with 64 bits without being asked to.
        array = _number(leaf, spec.dtype, what)
    else:
        array = host.canonical(leaf, what)
    weak = getattr(array, "weak_type", False)
    if array.dtype != spec.dtype and not (weak and _casts(array.dtype, spec.dtype)):
        msg = (
            f"{what} has dtype {array.dtype.name}, but the variable has "
            f"{spec.dtype.name}; convert it with .astype({spec.dtype.name!r})"
        )
        raise ValueError(msg)
    if tuple(array.shape) != spec.shape:
        if array.shape == () and verb != "assign":
            return host.typed(array, spec.dtype)
        msg = (
            f"{what} has shape {tuple(array.shape)}, but the variable has "
            f"{spec.shape}; a variable keeps its shape"
        )
        # As TensorFlow has it: what only an operation finds out is this error.
        computes = verb in _COMPUTING and scope.current_frame() is None
        raise InvalidArgumentError(msg) if computes else ValueError(msg)
    return host.typed(array, spec.dtype)


def _is_of_numpy(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _of_other_kind(what: str, value: Any, dtype: Any) -> str:
    return (
        f"{what} is {value!r}, but the variable has {np.dtype(dtype).name}, which does "
        f"not hold such numbers; round it, or make a variable of another dtype"
    )


def _number(value: Any, dtype: Any, what: str) -> np.ndarray:
    """Numbers as a dtype that holds their kind, if it holds them."""
    try:
        array = np.asarray(value).astype(dtype) if _is_of_numpy(value) else None
        array = np.asarray(value, dtype) if array is None else array
    except OverflowError:
        array = None
    if array is None or (array.dtype.kind in "iu" and np.any(array != value)):
        verb = "holds" if _is_of_numpy(value) else "is"
        msg = f"{what} {verb} {value}, which does not fit in {np.dtype(dtype).name}"
        raise OverflowError(msg)
    return array


def describe(
    treedef: jax.tree_util.PyTreeDef, specs: tuple[jax.ShapeDtypeStruct, ...]
) -> str:
    """Shapes and dtypes, as a variable's repr shows them."""
    if jax.tree_util.treedef_is_leaf(treedef):
        return f"shape={specs[0].shape} dtype={specs[0].dtype.name}"
    tree = treedef.unflatten([f"{s.dtype.name}{list(s.shape)}" for s in specs])
    return str(tree)
