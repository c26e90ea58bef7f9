"""experimental_per_replica_buffer_size changes nothing in the values."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = []
    for size in (1, 4):
        options = tf.distribute.InputOptions(experimental_per_replica_buffer_size=size)
        out.append(
            steps(
                s,
                s.experimental_distribute_dataset(
                    tf.data.Dataset.range(6).batch(4), options
                ),
            )
        )
    return out
