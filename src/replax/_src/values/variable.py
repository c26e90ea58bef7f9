"""Variables: state that outlives a step.

A variable knows how the code that is running right now sees it: eagerly or in a
function that is being traced, in a step on one replica or between steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Self

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax import lax

from replax._src.core import host, jax_compat
from replax._src.replica import scope
from replax._src.topology.topology import Topology
from replax._src.values import create
from replax._src.values.from_first import from_first_process
from replax._src.values.handle import Handle
from replax._src.values.operators import ArrayOperators
from replax._src.values.storage import Leaves, Store
from replax._src.values.vocabulary import (
    VariableAggregation,
    VariableSynchronization,
)

__all__ = ["Update", "Variable", "replaced", "updated"]

Update = Callable[[jax.Array, jax.Array], jax.Array]


def replaced(old: jax.Array, new: jax.Array) -> jax.Array:
    del old
    return new


class _ChoosesKind(type):
    """Makes ``Variable(...)`` the kind of variable that the current scope calls for."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        return create.create(*args, **kwargs)


class Variable(ArrayOperators, Handle, metaclass=_ChoosesKind):
    """State that outlives a step: an array, or any pytree of arrays.

    Created in a strategy's scope it is kept on every replica; created elsewhere it is
    one value on one device. ``Variable(...)`` makes the right kind by itself.

    Args:
      initial_value: An array, a number, a pytree of these, or a callable that returns
        one of them.
      trainable: Whether optimizers should change it. By default True, and False for a
        variable that is synchronized on read.
      name: For messages.
      dtype: Converts the initial value.
      synchronization: When the copies are made equal.
      aggregation: How values that replicas assign become one.

    >>> import replax
    >>> counter = replax.Variable(1.0, name="counter")
    >>> counter.assign_add(2.0).numpy()
    array(3., dtype=float32)
    >>> parameters = replax.Variable({"w": [[1.0, 2.0]], "b": [0.0]})
    >>> parameters.read_value()["w"].shape
    (1, 2)
    """

    def __init__(
        self,
        initial_value: Any,
        trainable: bool | None = None,  # noqa: FBT001  # as in tf.Variable
        name: str | None = None,
        dtype: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> None:
        # Only the signature: `create.create` makes the variable from a recipe.
        del trainable, dtype, synchronization, aggregation
        msg = f"{name!r} with {initial_value!r} is made by create.create"
        raise AssertionError(msg)

    @classmethod
    def from_recipe(
        cls, recipe: create.Recipe, topology: Topology, store: Store | None = None
    ) -> Self:
        """The variable that a checked recipe describes, on these replicas.

        Args:
          recipe: The description.
          topology: The replicas.
          store: Where its arrays are already; by default a new one is filled.
        """
        self = cls.__new__(cls)
        self._treedef = recipe.treedef
        self._specs = tuple(
            jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in recipe.leaves
        )
        self._name = recipe.name
        self._trainable = recipe.trainable
        self._synchronization = recipe.synchronization
        self._aggregation = recipe.aggregation
        self._owned = recipe.owned
        if store is None:
            self._store = Store(topology, parts_differ=cls._parts_differ)
            self.initialise(recipe.leaves)
        else:
            self._store = store
        return self

    def initialise(self, leaves: Leaves) -> None:
        """Takes a first value; with several processes, that of the first one."""
        self._store.fill(from_first_process(leaves, self.topology, self._name))

    _parts_differ = False
    _treedef: jax.tree_util.PyTreeDef
    _specs: tuple[jax.ShapeDtypeStruct, ...]
    _name: str
    _owned: bool
    _trainable: bool
    _synchronization: VariableSynchronization
    _aggregation: VariableAggregation
    _store: Store

    # --- what it is -------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name, for messages."""
        return self._name

    @property
    def trainable(self) -> bool:
        """Whether optimizers should change it."""
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        """When the copies are made equal."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """How values that replicas assign become one."""
        return self._aggregation

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array; a variable that is a tree has none."""
        return self._spec("shape").shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the array; a variable that is a tree has none."""
        return self._spec("dtype").dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions of the array."""
        return len(self._spec("ndim").shape)

    @property
    def size(self) -> int:
        """Number of elements of the array."""
        return self._spec("size").size

    @property
    def device(self) -> jax.Device:
        """The device of the first local replica."""
        return self._store.topology.local_devices[0]

    @property
    def topology(self) -> Topology:
        """The replicas it lives on."""
        return self._store.topology

    @property
    def store(self) -> Store:
        """Its arrays, for the programs that run with it."""
        return self._store

    @property
    def treedef(self) -> jax.tree_util.PyTreeDef:
        """Structure of its value."""
        return self._treedef

    @property
    def specs(self) -> tuple[jax.ShapeDtypeStruct, ...]:
        """Shapes and dtypes of its leaves, as one replica sees them."""
        return self._specs

    def _spec(self, what: str) -> jax.ShapeDtypeStruct:
        if not jax.tree_util.treedef_is_leaf(self._treedef):
            msg = (
                f"variable {self._name!r} is a tree of {len(self._specs)} arrays and "
                f"has no {what}; read it with read_value() and look at its leaves"
            )
            raise AttributeError(msg)
        return self._specs[0]

    # --- reading ----------------------------------------------------------------

    def read_value(self) -> Any:
        """The present value, which later assignments do not change."""
        self._store.exposed = True
        return self._treedef.unflatten(self._leaves())

    def value(self) -> Any:
        """The present value; the same as :meth:`read_value`."""
        return self.read_value()

    def numpy(self) -> Any:
        """The present value on the host."""
        tree = self._treedef.unflatten(self._leaves())
        return jax.tree.map(lambda x: np.array(host.numbers_of(x)), tree)

    def operand(self) -> jax.Array:
        """The array to compute with; it is not handed on to the caller."""
        if not jax.tree_util.treedef_is_leaf(self._treedef):
            msg = (
                f"variable {self._name!r} is a tree of {len(self._specs)} arrays and "
                f"cannot be used as one; read it with read_value() and use its leaves"
            )
            raise TypeError(msg)
        return self._leaves()[0]

    def __jax_array__(self) -> jax.Array:
        self._store.exposed = True
        return self.operand()

    def _leaves(self) -> Leaves:
        """The leaves as the running code sees them."""
        frame = scope.current_frame()
        if frame is not None:
            return self._seen_in_frame(frame)
        self._refuse_staging("read")
        place = scope.current()
        if place is not None and place.index is not None:
            if place.topology is self.topology:
                self._store.exposed = True
                return self._store.part(place.index)
            return tuple(jax_compat.uncommitted(x) for x in self._seen_across())
        return self._seen_across()

    def _seen_in_frame(self, frame: scope.Frame) -> Leaves:
        return frame.read(self)

    def _seen_across(self) -> Leaves:
        return self._store.first()

    # --- writing ----------------------------------------------------------------

    def assign(self, value: Any) -> Self:
        """Replaces the value.

        In a step, the values of the replicas are brought together first, as the
        variable's ``aggregation`` says.

        Args:
          value: Of the same structure, shapes and dtypes.

        Returns:
          The variable.
        """
        return self._update(value, replaced, "assign")

    def assign_add(self, value: Any) -> Self:
        """Adds to the value; see :meth:`assign`."""
        return self._update(value, jnp.add, "assign_add")

    def assign_sub(self, value: Any) -> Self:
        """Subtracts from the value; see :meth:`assign`."""
        return self._update(value, jnp.subtract, "assign_sub")

    def overwrite(self, value: Any) -> None:
        """Replaces the value between steps, whosever scope this is: a restore."""
        leaves = create.checked_leaves(value, self, "restore")
        self._update_across(leaves, replaced, "restore")

    def _update(self, value: Any, update: Update, verb: str) -> Self:
        place = scope.current()
        self._refuse_other_strategy(place, verb)
        # What is assigned has no gradient, also while one is being taken.
        leaves = tuple(
            lax.stop_gradient(x) if isinstance(x, jax.core.Tracer) else x
            for x in create.checked_leaves(value, self, verb)
        )
        if scope.current_frame() is None:
            self._refuse_staging(verb)
            self._refuse_tracers(leaves, verb)
        if (
            place is not None
            and place.replica is not None
            and not place.topology.is_single
        ):
            self._update_in_replica(value, leaves, update, verb, place)
        else:
            self._update_across(leaves, update, verb)
        return self

    def _update_in_replica(
        self, value: Any, leaves: Leaves, update: Update, verb: str, place: scope.Place
    ) -> None:
        del value, leaves, update
        msg = (
            f"variable {self._name!r} was made outside of the strategy's scope and is "
            f"one value, so {verb} by {place.topology.num_replicas} replicas has no "
            f"meaning; create it inside `with strategy.scope():`"
        )
        raise ValueError(msg)

    def _update_across(self, leaves: Leaves, update: Update, verb: str) -> None:
        del verb
        frame = scope.current_frame()
        if frame is not None:
            frame.write(self, updated(frame.read(self), leaves, update))
        elif update is replaced:
            self._store.fill(leaves)
        else:
            here = jax.device_put(leaves, self.device)
            self._store.fill(updated(self._store.first(), here, update))

    def _refuse_other_strategy(self, place: scope.Place | None, verb: str) -> None:
        if place is None or not self._owned or place.topology is self.topology:
            return
        msg = (
            f"{verb} of variable {self._name!r}, which belongs to another strategy "
            f"than the one whose scope this is; leave this scope first, or create the "
            f"variable in it"
        )
        raise RuntimeError(msg)

    def _refuse_staging(self, verb: str) -> None:
        if jax_compat.is_staging():
            msg = (
                f"variable {self._name!r} is used ({verb}) inside a function that "
                f"jax.jit, scan or the like is tracing, where its value would be "
                f"frozen; use replax.function in place of jax.jit, or pass "
                f"{self._name}.read_value() as an argument and assign the result"
            )
            raise RuntimeError(msg)

    def _refuse_tracers(self, leaves: Sequence[Any], verb: str) -> None:
        if any(isinstance(x, jax.core.Tracer) for x in leaves):
            msg = (
                f"{verb} of variable {self._name!r} inside of jax.vmap or the like, "
                f"where there is no one value to assign; return the new value from "
                f"there, and assign it to the variable outside"
            )
            raise RuntimeError(msg)

    # --- copies -----------------------------------------------------------------

    def __copy__(self) -> Self:
        """A variable of its own with the present value."""
        place = scope.current()
        if scope.current_frame() is not None or (place and place.replica is not None):
            msg = (
                f"variable {self._name!r} is copied inside of a step or a function "
                f"that is being traced; copy it before, or read its value"
            )
            raise RuntimeError(msg)
        copy = object.__new__(type(self))
        vars(copy).update(vars(self), _store=self._store.copied())
        return copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def __reduce__(self) -> NoReturn:
        msg = (
            f"variable {self._name!r} belongs to the devices of this process and "
            f"cannot be pickled; pickle variable.numpy(), or save a checkpoint"
        )
        raise TypeError(msg)

    # --- looks ------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<Variable {self._summary()}>"

    def _summary(self) -> str:
        return f"{self._name!r} {create.describe(self._treedef, self._specs)}"

    def _shown(self, part: Leaves) -> str:
        """One replica's value, as the variable's repr shows it."""
        shown = [_Shown(host.shown(leaf)) for leaf in part]
        return f"<Variable {self._summary()} value={self._treedef.unflatten(shown)!r}>"

    def _shown_by_replica(self) -> str:
        """The values of all replicas, one a line."""
        if scope.current_frame() is not None:
            return f"<{type(self).__name__} {self._summary()}>"
        lines = ",\n".join(
            f"  {i}: {self._shown(part)}" for i, part in enumerate(self._store.parts())
        )
        return f"{type(self).__name__}:{{\n{lines}\n}}"


@dataclasses.dataclass(frozen=True, slots=True)
class _Shown:
    """A leaf of a tree that is shown by a text."""

    text: str

    def __repr__(self) -> str:
        return self.text


def updated(old: Sequence[jax.Array], new: Sequence[Any], update: Update) -> Leaves:
    return tuple(
        host.typed(update(a, b), a.dtype) for a, b in zip(old, new, strict=True)
    )
