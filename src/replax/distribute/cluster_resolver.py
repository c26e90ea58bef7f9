"""Who else runs: descriptions of clusters, and how to find them."""

from replax._src.cluster.gce import GCEClusterResolver
from replax._src.cluster.kubernetes import (
    KubernetesClusterResolver,
    KubernetesExecutableLocation,
)
from replax._src.cluster.resolver import ClusterResolver
from replax._src.cluster.sagemaker import SageMakerClusterResolver
from replax._src.cluster.simple import SimpleClusterResolver
from replax._src.cluster.slurm import SlurmClusterResolver
from replax._src.cluster.spec import ClusterSpec
from replax._src.cluster.tf_config import TFConfigClusterResolver
from replax._src.cluster.tpu import TPUClusterResolver
from replax._src.cluster.union import UnionClusterResolver
from replax._src.cluster.union import UnionClusterResolver as UnionResolver

__all__ = [
    "ClusterResolver",
    "ClusterSpec",
    "GCEClusterResolver",
    "KubernetesClusterResolver",
    "KubernetesExecutableLocation",
    "SageMakerClusterResolver",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
    "TPUClusterResolver",
    "UnionClusterResolver",
    "UnionResolver",
]
