"""Values that differ from replica to replica, or are kept equal on all of them.

A ``PerReplica`` of equal shapes is kept as one array: the replicas' parts stacked on
a leading axis that is split over the mesh. That array never leaves the library; what
people look at are the parts, made when looked at.
"""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from replax._src.cluster.agreement import written
from replax._src.core import host
from replax._src.core.jax_compat import ArrayClass
from replax._src.replica.scope import HostValueError
from replax._src.topology.topology import Topology
from replax._src.values.apart import Apart
from replax._src.values.handle import Handle

__all__ = ["DistributedValues", "Mirrored", "PerReplica", "Spread"]

Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Spread:
    """A traced per-replica value.

    Attributes:
      stacked: The replicas' parts, zero-padded to one shape, on a leading axis.
      shapes: The true shape of a part, for each shape class of the running program.
      topology: The replicas it is spread over.
    """

    stacked: Any
    shapes: tuple[Shape, ...]
    topology: Topology

    @property
    def is_uniform(self) -> bool:
        """Whether all parts have one shape."""
        return all(shape == self.shapes[0] for shape in self.shapes)


class DistributedValues(Handle):
    """A value with a component for each replica.

    The argument of a step that ``strategy.run`` takes apart, and what it returns: each
    replica gets, or gave, its own component.

    >>> import replax
    >>> strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> values = strategy.experimental_distribute_values_from_function(
    ...     lambda context: context.replica_id_in_sync_group
    ... )
    >>> isinstance(values, replax.distribute.DistributedValues)
    True
    """

    @property
    def values(self) -> tuple[Any, ...]:
        """The components of this process's replicas.

        Each is on its replica's device, and can be computed with together with others.
        """
        raise NotImplementedError

    @property
    def placed(self) -> tuple[Any, ...]:
        """The components, bound to their replicas' devices."""
        return self.values

    def __reduce__(self) -> Any:
        return type(self), (self.values,)

    def __repr__(self) -> str:
        lines = ",\n".join(
            f"  {i}: {_indented(value)}" for i, value in enumerate(self.values)
        )
        return f"{type(self).__name__}:{{\n{lines}\n}}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{i}</th><td>{html.escape(str(_device_of(value)))}</td>"
            f"<td>{html.escape(_kind_of(value))}</td>"
            f"<td><pre>{html.escape(repr(value))}</pre></td></tr>"
            for i, value in enumerate(self.values)
        )
        return (
            f"<table><caption>{type(self).__name__}</caption><thead><tr>"
            f"<th>replica</th><th>device</th><th>type</th><th>value</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )


class PerReplica(Apart, DistributedValues):
    """A value that may differ from replica to replica.

    It is a pytree of its components, so ``jax.tree.map`` works on each.

    Attributes:
      on_host: Whether its components cannot be put on devices (strings, objects).

    >>> from replax.distribute import PerReplica
    >>> PerReplica((1, 2))
    PerReplica:{
      0: 1,
      1: 2
    }
    """

    __slots__ = (
        "_free",
        "_shapes",
        "_spread",
        "_stacked",
        "_topology",
        "_values",
        "on_host",
    )

    def __init__(self, values: Sequence[Any]) -> None:
        self._values: tuple[Any, ...] | None = tuple(values)
        self._free: tuple[Any, ...] | None = None
        self.on_host = not all(
            host.is_array(v) or host.is_number(v) for v in self._values
        )
        self._stacked: Any = None
        self._shapes: tuple[Shape, ...] | None = None
        self._topology: Topology | None = None
        self._spread: Spread | None = None

    @classmethod
    def on(cls, values: Sequence[Any], topology: Topology) -> PerReplica:
        """One value for each replica of ``topology``."""
        self = cls(values)
        self._topology = topology
        return self

    @classmethod
    def of_stack(
        cls, stacked: jax.Array, shapes: tuple[Shape, ...] | None, topology: Topology
    ) -> PerReplica:
        """The parts of a stacked array; ``shapes`` says their sizes if they differ."""
        self = cls.__new__(cls)
        self._values = None
        self._free = None
        self.on_host = False
        self._stacked = stacked
        self._shapes = shapes
        self._topology = topology
        self._spread = None
        return self

    @classmethod
    def of_spread(cls, spread: Spread) -> PerReplica:
        """A per-replica value inside of a function that is being traced."""
        self = cls.of_stack(spread.stacked, None, spread.topology)
        self._spread = spread
        return self

    @property
    def spread(self) -> Spread | None:
        """What is known of it while a function is traced; None outside."""
        return self._spread

    @property
    def topology(self) -> Topology | None:
        """The replicas it is spread over, if that is known."""
        return self._topology

    @property
    def number(self) -> Any:
        """The Python number that all components are; None if they are no such."""
        if not self._values:
            return None
        first, *rest = self._values
        if not host.is_number(first):
            return None
        alike = all(type(v) is type(first) and v == first for v in rest)
        return first if alike else None

    @property
    def values(self) -> tuple[Any, ...]:
        """The components of this process's replicas.

        Each is on its replica's device, and can be computed with together with others.
        """
        if self._free is None:
            self._free = tuple(map(host.free, self.placed))
        return self._free

    @property
    def placed(self) -> tuple[Any, ...]:
        """The components, bound to their replicas' devices."""
        if self._values is None:
            self._values = self._parts()
        return self._values

    def _parts(self) -> tuple[Any, ...]:
        topology = self._topology
        assert topology is not None
        if self._spread is not None:
            if not self._spread.is_uniform:
                msg = (
                    "the components of a per-replica value have different shapes "
                    f"here: {', '.join(map(str, self._spread.shapes))}; in a compiled "
                    "function give it to strategy.run, reduce or gather, or look at "
                    "its components outside of the function"
                )
                raise TypeError(msg)
            if topology.agreement is not None:
                msg = "it looks at the components of a per-replica value"
                raise HostValueError(msg)
            return tuple(self._stacked[i] for i in range(topology.num_replicas))
        parts: list[Any] = []
        for replica, shard in zip(
            topology.local_replicas, self._stacked.addressable_shards, strict=True
        ):
            part = shard.data
            if self._shapes is None:
                parts.append(host.unrowed(part))
            else:
                lengths = map(slice, self._shapes[replica])
                parts.append(part[(0, *lengths)])
        return tuple(parts)

    @staticmethod
    def stack_all(
        values: Sequence[PerReplica],
        find_topology: Callable[[Sequence[PerReplica]], Topology],
    ) -> tuple[Topology, list[Any], list[tuple[Shape, ...]] | None]:
        """What :meth:`stack` does, for all values of a step in one call.

        Args:
          values: The values.
          find_topology: Says what they are spread over, if none of them does.

        Returns:
          What they are spread over, the stacked arrays, and the parts' shapes; None if
          all parts of each have one shape.
        """
        topology = None
        for self in values:
            topology = topology or self._topology
        if topology is None:
            topology = find_topology(values)
        stacks: list[Any] = []
        uniform = True
        for self in values:
            if self._stacked is None or self._topology is not topology:
                self.stack(topology, "a per-replica value")
            uniform = uniform and self._shapes is None
            stacks.append(self._stacked)
        if uniform:
            return topology, stacks, None
        shapes = [v.stack(topology, "a per-replica value")[1] for v in values]
        return topology, stacks, shapes

    def stack(self, topology: Topology, what: str) -> tuple[Any, tuple[Shape, ...]]:
        """The stacked array, and the true shape of each replica's part.

        Args:
          topology: The replicas that are going to use it.
          what: How to call the value in an error.
        """
        if self._stacked is None or (
            self._topology is not topology and self._topology != topology
        ):
            self._check_count(topology, what)
            stacked, shapes = _stack(self.placed, topology, what)
            self._stacked, self._topology = stacked, topology
            self._shapes = None if len(set(shapes)) == 1 else shapes
        if self._shapes is not None:
            return self._stacked, self._shapes
        return self._stacked, (self._stacked.shape[1:],) * topology.num_replicas

    def _check_count(self, topology: Topology, what: str) -> None:
        count = len(self.placed)
        if count != len(topology.local_replicas):
            msg = (
                f"{what} has {count} components, but the strategy has "
                f"{len(topology.local_replicas)} local replicas; make per-replica "
                f"values with the strategy that runs them"
            )
            raise ValueError(msg)

    @property
    def numpy(self) -> Callable[[], Any]:
        """Gives the component on the host, if this process has one replica only."""
        if len(self.values) != 1:
            # Which lets the error come that all other names have.
            raise AttributeError
        (value,) = self.values
        return lambda: np.array(value)[()]

    def __repr__(self) -> str:
        if self._spread is not None:
            shapes = " or ".join(
                str(list(shape)) for shape in dict.fromkeys(self._spread.shapes)
            )
            return f"PerReplica(traced {self._stacked.dtype.name}{shapes})"
        return super().__repr__()


class Mirrored(DistributedValues):
    """A value that is the same on all replicas.

    >>> from replax.distribute import Mirrored
    >>> Mirrored((3.0, 3.0)).values
    (3.0, 3.0)
    """

    __slots__ = ("_values",)

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        """The components, equal to each other."""
        return self._values

    def __jax_array__(self) -> Any:
        return jnp.asarray(self._values[0])


def _stack(
    values: Sequence[Any], topology: Topology, what: str
) -> tuple[jax.Array, tuple[Shape, ...]]:
    """The parts on a leading axis, and the shapes of the parts of all replicas."""
    parts = [host.canonical(value, what) for value in values]
    dtypes = {part.dtype for part in parts}
    ranks = {len(part.shape) for part in parts}
    if len(dtypes) > 1 or len(ranks) > 1:
        seen = ", ".join(f"{p.dtype}{list(p.shape)}" for p in parts)
        msg = (
            f"the components of {what} are {seen}; they may differ in the lengths of "
            f"their dimensions only, so give all replicas one dtype and one rank"
        )
        raise TypeError(msg)
    shapes = _shapes_of_all(parts, topology, what)
    common = tuple(max(dims) for dims in zip(*shapes, strict=True))
    if host.is_key(parts[0].dtype):
        numbers = [jax.random.key_data(key) for key in parts]
        width = numbers[0].shape[len(common) :]
        stacked = _stacked(numbers, (*common, *width), topology)
        how = jax.random.key_impl(parts[0])
        return jax.random.wrap_key_data(stacked, impl=how), shapes
    return _stacked(parts, common, topology), shapes


def _shapes_of_all(
    parts: Sequence[Any], topology: Topology, what: str
) -> tuple[Shape, ...]:
    mine = [tuple(part.shape) for part in parts]
    agreement = topology.agreement
    if agreement is None:
        return tuple(mine)
    dtype, rank = parts[0].dtype, len(mine[0])
    kind = written(f"taking {what}", [("", f"{dtype} of {rank} dimensions")])
    if rank == 0:
        agreement.enter(kind)
        return ((),) * topology.num_replicas
    told = agreement.exchange(kind, json.dumps(mine))
    return tuple(tuple(shape) for text in told for shape in json.loads(text))


def _stacked(parts: Sequence[Any], common: Shape, topology: Topology) -> Any:
    if any(isinstance(part, jax.core.Tracer) for part in parts):
        return jnp.stack([_padded(part, common, jnp) for part in parts])
    if all(isinstance(part, np.ndarray) for part in parts):
        rows = np.stack([_padded(part, common, np) for part in parts])
        if topology.agreement is None:
            return jax.device_put(rows, topology.stacked)
        parts = list(rows)
    shards: list[jax.Array] = []
    # Values that are known while a function is traced stay known.
    with jax.ensure_compile_time_eval():
        for part, device in zip(parts, topology.local_devices, strict=True):
            placed = host.placed(part, device)
            shards.append(host.row(_padded(placed, common, jnp)))
        return jax.make_array_from_single_device_arrays(
            (topology.num_replicas, *common), topology.stacked, shards
        )


def _padded(part: Any, shape: Shape, numpy: Any) -> Any:
    if tuple(part.shape) == shape:
        return part
    missing = [(0, n - m) for n, m in zip(shape, part.shape, strict=True)]
    return numpy.pad(part, missing)


def _indented(value: Any) -> str:
    return repr(value).replace("\n", "\n  ")


def _device_of(value: Any) -> Any:
    return value.device if isinstance(value, ArrayClass) else "host"


def _kind_of(value: Any) -> str:
    if host.is_array(value):
        return f"{value.dtype}{list(value.shape)}"
    return type(value).__name__


for _cls in (PerReplica, Mirrored):
    jax.tree_util.register_pytree_node(
        _cls,
        lambda value: (value.placed, None),
        lambda _, children, cls=_cls: cls(children),
    )
