"""What training needs besides strategies."""

from replax._src.cluster.spec import ClusterSpec
from replax.train import Checkpoint, latest_checkpoint

__all__ = ["Checkpoint", "ClusterSpec", "latest_checkpoint"]
