"""Docs: single-worker strategies have no cluster resolver."""

REPLICAS = 2


def case(tf):
    return [
        tf.distribute.MirroredStrategy().cluster_resolver,
        tf.distribute.OneDeviceStrategy("/cpu:0").cluster_resolver,
    ]
