"""Hints for how replicas communicate."""

from __future__ import annotations

import dataclasses
import enum

__all__ = ["CommunicationImplementation", "CommunicationOptions"]


class CommunicationImplementation(enum.Enum):
    """Which library moves the bytes between hosts.

    The devices decide: gloo between CPU hosts, NCCL between GPUs, the interconnect of a
    TPU. The members say what a program expects, and change nothing: ``RING`` is there
    for programs that name it, and does what ``AUTO`` does (the bytes go round a ring
    where that is quicker); ``NCCL`` with CPU devices is refused by
    :class:`MultiWorkerMirroredStrategy`.

    >>> from replax.distribute.experimental import CommunicationImplementation
    >>> CommunicationImplementation.AUTO.value
    'AUTO'
    """

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@dataclasses.dataclass(frozen=True)
class CommunicationOptions:
    """Hints for collectives between hosts.

    Args:
      bytes_per_pack: Up to how many bytes small arrays are sent as one between CPU
        hosts; 0 lets the library choose.
      timeout_seconds: After how long a collective that a peer does not join is an
        error; None stands for ten minutes.
      implementation: Which library is expected to move the bytes. It does not choose
        one: ``RING`` is the same as ``AUTO``.

    >>> from replax.distribute.experimental import CommunicationOptions
    >>> CommunicationOptions(bytes_per_pack=50 * 1024 * 1024).bytes_per_pack
    52428800
    """

    bytes_per_pack: int = 0
    timeout_seconds: float | None = None
    implementation: CommunicationImplementation = CommunicationImplementation.AUTO

    def __post_init__(self) -> None:
        if self.bytes_per_pack < 0:
            msg = f"bytes_per_pack is {self.bytes_per_pack}; it must be 0 or more"
            raise ValueError(msg)
        if self.timeout_seconds is not None and self.timeout_seconds <= 0:
            msg = f"timeout_seconds is {self.timeout_seconds}; it must be positive"
            raise ValueError(msg)
        if not isinstance(self.implementation, CommunicationImplementation):
            object.__setattr__(
                self,
                "implementation",
                CommunicationImplementation(str(self.implementation).upper()),
            )
