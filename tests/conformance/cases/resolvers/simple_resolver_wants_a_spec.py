"""SimpleClusterResolver takes a ClusterSpec, not a dict: TypeError."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    R = tf.distribute.cluster_resolver.SimpleClusterResolver
    return attempt(lambda: R({"worker": ["localhost:11"]}))
