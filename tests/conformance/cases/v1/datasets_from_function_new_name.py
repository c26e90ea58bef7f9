"""distribute_datasets_from_function is there in v1 too."""

from conformance.kit import steps

REPLICAS = 2
API = "v1"


def case(tf):
    s = tf.distribute.MirroredStrategy()
    return steps(
        s,
        s.distribute_datasets_from_function(
            lambda ctx: tf.data.Dataset.range(6).batch(2)
        ),
    )
