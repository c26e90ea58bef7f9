"""Names for the ways in which the replicas of a host are brought together.

With XLA there is one way for each kind of device, and it is the right one: on CPU
devices of one process a sum in shared memory, on GPUs NCCL, on TPUs their interconnect.
The classes are accepted, so that programs keep their meaning; what they ask for is
written at each.
"""

from __future__ import annotations

__all__ = [
    "CrossDeviceOps",
    "HierarchicalCopyAllReduce",
    "NcclAllReduce",
    "ReductionToOneDevice",
]


class CrossDeviceOps:
    """A wish for how replicas are brought together.

    >>> import replax
    >>> isinstance(replax.distribute.NcclAllReduce(), replax.distribute.CrossDeviceOps)
    True
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class NcclAllReduce(CrossDeviceOps):
    """All-reduce with NCCL: what XLA uses between GPUs.

    Args:
      num_packs: Accepted; XLA combines small all-reduces by itself.

    >>> import replax
    >>> replax.distribute.NcclAllReduce(num_packs=2)
    NcclAllReduce()
    """

    def __init__(self, num_packs: int = 1) -> None:
        _check_packs(num_packs)


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """All-reduce along the wiring of the machine: NCCL finds it by itself.

    Args:
      num_packs: Accepted; XLA combines small all-reduces by itself.

    >>> import replax
    >>> replax.distribute.HierarchicalCopyAllReduce()
    HierarchicalCopyAllReduce()
    """

    def __init__(self, num_packs: int = 1) -> None:
        _check_packs(num_packs)


class ReductionToOneDevice(CrossDeviceOps):
    """Sum on one device and copy back: slower than what XLA does, with equal results.

    Args:
      reduce_to_device: Accepted.
      accumulation_fn: Not supported: XLA's reductions are sums.

    >>> import replax
    >>> replax.distribute.ReductionToOneDevice()
    ReductionToOneDevice()
    """

    def __init__(
        self, reduce_to_device: str | None = None, accumulation_fn: object = None
    ) -> None:
        if accumulation_fn is not None:
            msg = (
                "accumulation_fn is given, but replicas are brought together by sums; "
                "gather the values with strategy.gather and combine them yourself"
            )
            raise ValueError(msg)
        self.reduce_to_device = reduce_to_device


def _check_packs(num_packs: int) -> None:
    if num_packs < 0:
        msg = f"num_packs is {num_packs}; it must be 0 or more"
        raise ValueError(msg)
