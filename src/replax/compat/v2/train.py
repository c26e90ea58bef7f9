"""What training needs besides strategies."""

from replax._src.cluster.spec import ClusterSpec

__all__ = ["ClusterSpec"]
