"""Who else runs: descriptions of clusters, and how to find them."""

from replax._src.cluster.resolver import ClusterResolver
from replax._src.cluster.simple import SimpleClusterResolver
from replax._src.cluster.spec import ClusterSpec
from replax._src.cluster.tf_config import TFConfigClusterResolver

__all__ = [
    "ClusterResolver",
    "ClusterSpec",
    "SimpleClusterResolver",
    "TFConfigClusterResolver",
]
