"""distribute_datasets_from_function neither shards nor splits."""

from conformance.kit import steps

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    dist = s.distribute_datasets_from_function(
        lambda ctx: tf.data.Dataset.range(6).batch(4)
    )
    return steps(s, dist)
