"""Specs of what a distributed dataset gives."""

from __future__ import annotations

from typing import Any

from replax._src.core.specs import TensorSpec, TypeSpec
from replax._src.dataset.structure import ElementSpec
from replax._src.input.split import parts

__all__ = ["PerReplicaSpec", "distributed_spec"]


class PerReplicaSpec(TypeSpec):
    """What the components of a per-replica value look like, replica by replica.

    It goes into an ``input_signature``, and is made by a distributed dataset.

    >>> import replax
    >>> strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> data = replax.data.Dataset.range(6).batch(4)
    >>> strategy.experimental_distribute_dataset(data).element_spec
    PerReplicaSpec(TensorSpec(shape=(None,), dtype=int32), ...)
    """

    __slots__ = ("specs",)

    def __init__(self, *specs: TensorSpec) -> None:
        self.specs = specs

    def is_compatible_with(self, value: Any) -> bool:
        """Whether a component could be a replica's."""
        return any(spec.is_compatible_with(value) for spec in self.specs)

    @property
    def dtype(self) -> Any:
        """The dtype of every component."""
        return self.specs[0].dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerReplicaSpec) and self.specs == other.specs

    def __hash__(self) -> int:
        return hash(self.specs)

    def __repr__(self) -> str:
        first, *others = self.specs
        if all(other == first for other in others):
            return f"PerReplicaSpec({first!r}, ...)"
        return f"PerReplicaSpec({', '.join(map(repr, self.specs))})"


def distributed_spec(
    spec: ElementSpec,
    replicas: int,
    local: int,
    *,
    is_split: bool,
    is_open: bool = False,
) -> Any:
    """A nest of specs of what replicas get.

    Args:
      spec: The elements of the dataset.
      replicas: Over how many replicas each is split.
      local: How many replicas this process has.
      is_split: Whether elements are split; else each replica gets a whole one.
      is_open: Whether the number of rows is left open: other workers have some too.
    """
    if replicas == 1:
        return spec.tree()

    def spread(leaf: TensorSpec) -> PerReplicaSpec:
        if not is_split or leaf.shape.rank is None:
            # A replica for which there is no element gets one without rows.
            open_shape = leaf.shape
            if not is_split and leaf.shape.rank:
                open_shape = (None, *leaf.shape[1:])
            return PerReplicaSpec(*[TensorSpec(open_shape, leaf.dtype)] * local)
        rows = leaf.shape[0] if leaf.shape else None
        rest = leaf.shape[1:]
        sizes: list[int | None] = [None] * replicas
        if rows is not None and not is_open:
            sizes = [stop - start for start, stop in parts(rows, replicas)]
        return PerReplicaSpec(
            *(TensorSpec((size, *rest), leaf.dtype) for size in sizes[:local])
        )

    return spec.treedef.unflatten([spread(leaf) for leaf in spec.leaves])
