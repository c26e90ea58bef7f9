"""One batch and four replicas: the others get batches of size 0."""

from conformance.kit import attempt, local

REPLICAS = 4


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.distribute_datasets_from_function(
        lambda ctx: tf.data.Dataset.range(3).batch(2)
    )
    it = iter(dist)
    return [local(s, next(it)), attempt(it.get_next)]
