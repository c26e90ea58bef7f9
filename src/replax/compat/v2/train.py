"""Checkpoints."""

from replax.train import Checkpoint, latest_checkpoint

__all__ = ["Checkpoint", "latest_checkpoint"]
