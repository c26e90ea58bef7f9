"""experimental_fetch_to_device changes where values are, not what they are."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = []
    for fetch in (True, False):
        options = tf.distribute.InputOptions(experimental_fetch_to_device=fetch)
        out.append(
            steps(
                s,
                s.experimental_distribute_dataset(
                    tf.data.Dataset.range(5).batch(4), options
                ),
            )
        )
        out.append(
            steps(
                s,
                s.distribute_datasets_from_function(
                    lambda ctx: tf.data.Dataset.range(3).batch(1), options
                ),
            )
        )
    return out
