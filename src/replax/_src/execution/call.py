"""One call of a function: its arguments, sorted by what a program does with them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.core
import numpy as np

from replax._src.core import host
from replax._src.core.jax_compat import ArrayClass
from replax._src.execution.body import PerReplicaArgument
from replax._src.execution.opaque import Grouping
from replax._src.execution.signature import ON_HOST, kind_of_leaf
from replax._src.replica import scope
from replax._src.replica.scope import HostValueError
from replax._src.topology.topology import Topology
from replax._src.values.distributed import PerReplica
from replax._src.values.handle import is_handle
from replax._src.values.passing import Passing, PassingPerReplica

__all__ = ["Call", "spelled"]

_PER_REPLICA = "per replica"
_ONE_CLASS = Grouping((0,), (1,))


class Call:
    """The arguments of one call.

    Args:
      args: The positional arguments.
      kwargs: The arguments by name.
      captured: Arrays that the function closes over.
      static_numbers: Whether Python numbers are part of the program.
      static_host: Whether arrays of strings and objects are part of it.

    Attributes:
      treedef: Structure of the arguments.
      kinds: For each leaf what it is, apart from its numbers.
      inputs: The arrays and numbers that are given to the program; None where a
        per-replica value stands, whose stacked array is in ``stacks``.
      stacks: The stacked arrays of per-replica arguments, and of captured ones.
      layouts: The shapes of the per-replica values, and which replicas are alike.
      grouping: Which replicas have the same shapes.
    """

    __slots__ = (
        "_leaves",
        "_shapes",
        "_topology",
        "grouping",
        "inputs",
        "kinds",
        "layouts",
        "stacks",
        "treedef",
    )

    def __init__(
        self,
        args: Any,
        kwargs: Any,
        captured: Sequence[Any],
        *,
        static_numbers: bool,
        static_host: bool,
    ) -> None:
        for arg in args:
            if hasattr(type(arg), "__next__"):
                msg = f"it is given a {type(arg).__name__}"
                raise HostValueError(msg)
        leaves, treedef = jax.tree_util.tree_flatten((args, kwargs), is_leaf=is_handle)
        self._leaves = leaves
        self.treedef = treedef
        kinds: list[Any] = []
        inputs: list[Any] = []
        values: list[PerReplica] = []
        for position, leaf in enumerate(leaves):
            if type(leaf) is ArrayClass:
                kinds.append((leaf.shape, leaf.dtype, leaf.weak_type))
                inputs.append(leaf)
            elif type(leaf) is PerReplica and not leaf.on_host:
                kinds.append(_PER_REPLICA)
                inputs.append(None)
                values.append(leaf)
            else:
                kind = kind_of_leaf(
                    leaf, static_numbers=static_numbers, static_host=static_host
                )
                kinds.append(kind)
                if type(kind) is tuple:
                    inputs.append(self._on_host(leaf, position))
        self.kinds = kinds
        self.inputs = inputs
        if captured:
            values += [c for c in captured if type(c) is PerReplica]
        if values:
            self._arrange(values)
        else:
            self._topology, self._shapes, self.stacks = None, None, []
            self.grouping, self.layouts = _ONE_CLASS, ()

    def _arrange(self, values: list[PerReplica]) -> None:
        """Stacks the per-replica values, and finds out which replicas are alike."""
        topology, stacks, shapes = PerReplica.stack_all(values, _topology_of)
        self._topology = topology
        self.stacks = stacks
        if shapes is None:
            self._shapes = None
            self.grouping = _alike(topology.num_replicas)
            layouts: list[Any] = []
            for stacked in stacks:
                layouts += (stacked.shape, stacked.dtype)
            self.layouts = tuple(layouts)
            return
        self._shapes = shapes
        self.grouping = grouping = Grouping.of(list(zip(*shapes, strict=True)))
        self.layouts = (
            grouping.counts,
            *(
                (s.dtype, grouping.by_class(parts))
                for s, parts in zip(stacks, shapes, strict=True)
            ),
        )

    def _on_host(self, leaf: Any, position: int) -> Any:
        """A host value as an input; its place in the arguments is named if it fails."""
        try:
            if host.is_number(leaf):
                if type(leaf) is int:
                    host.check_fits(leaf, "it")
                return leaf
            return host.canonical(leaf, "it")
        except OverflowError as error:
            tree = self.treedef.unflatten(range(len(self._leaves)))
            paths = jax.tree_util.tree_leaves_with_path(tree)
            where = next(path for path, number in paths if number == position)
            msg = f"argument {spelled(where)}: {error}"
            raise OverflowError(msg) from None

    def leaf(self, position: int) -> Any:
        """One leaf of the arguments, as it was given."""
        return self._leaves[position]

    def _described_stack(self, position: int) -> PerReplicaArgument:
        topology, stacked = self._topology, self.stacks[position]
        assert topology is not None
        aval = jax.core.ShapedArray(stacked.shape, stacked.dtype)
        if self._shapes is None:
            shapes = (tuple(stacked.shape[1:]),) * topology.num_replicas
        else:
            shapes = self._shapes[position]
        return PerReplicaArgument(aval, shapes, topology)

    def described(self) -> list[Any]:
        """The leaves as the body is traced with them: types in place of arrays."""
        position = 0
        described: list[Any] = []
        for number, (leaf, kind) in enumerate(
            zip(self._leaves, self.kinds, strict=True)
        ):
            if kind is _PER_REPLICA:
                described.append(self._described_stack(position))
                position += 1
            elif kind is ON_HOST:
                kept = isinstance(leaf, PerReplica)
                described.append((PassingPerReplica if kept else Passing)(number))
            elif type(leaf) is ArrayClass:
                described.append(
                    jax.core.ShapedArray(
                        leaf.shape, leaf.dtype, weak_type=leaf.weak_type
                    )
                )
            elif type(kind) is tuple and kind[0] == "array":
                described.append(jax.core.ShapedArray(kind[1], kind[2]))
            elif type(kind) is tuple:
                dtype = jax.dtypes.canonicalize_dtype(np.asarray(leaf).dtype)
                described.append(jax.core.ShapedArray((), dtype, weak_type=True))
            else:
                described.append(leaf)
        return described


@functools.cache
def _alike(count: int) -> Grouping:
    return Grouping((0,) * count, (count,))


def spelled(path: Any) -> str:
    """Where a leaf is, as it would be written behind ``args`` or ``kwargs``."""
    first, *rest = path
    return f"{'' if first.idx == 0 else 'by name '}{jax.tree_util.keystr(tuple(rest))}"


def _topology_of(values: Sequence[PerReplica]) -> Topology:
    """The replicas that per-replica values are spread over, where none of them says."""
    parts = values[0].values
    here = scope.current()
    if here is not None and len(here.topology.local_replicas) == len(parts):
        return here.topology
    devices = [v.device for v in parts if isinstance(v, ArrayClass)]
    if len(devices) == len(set(devices)) == len(parts):
        return Topology.of_local_devices(devices)
    msg = (
        f"a PerReplica of {len(parts)} host values was given, and it is not known on "
        f"which devices; make it with "
        f"strategy.experimental_distribute_values_from_function"
    )
    raise ValueError(msg)
