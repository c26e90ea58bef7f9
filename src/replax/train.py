"""Checkpoints."""

from replax._src.checkpoint.checkpoint import Checkpoint
from replax._src.checkpoint.folders import latest_checkpoint
from replax._src.checkpoint.status import RestoreStatus

__all__ = ["Checkpoint", "RestoreStatus", "latest_checkpoint"]
