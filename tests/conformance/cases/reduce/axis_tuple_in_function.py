"""reduce over several axes at once, called inside a tf.function."""

from conformance.kit import pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = s.experimental_distribute_values_from_function(
        lambda ctx: tf.fill([2, 3], float(ctx.replica_id_in_sync_group))
    )

    @tf.function
    def f(x):
        return [
            s.reduce("SUM", x, axis=(0, 1)),
            s.reduce("MEAN", x, axis=(0, 1)),
            s.reduce("SUM", x, axis=[1]),
            s.reduce("MEAN", x, axis=1),
            s.reduce("sum", x, axis=None),
        ]

    return [pull(v) for v in f(x)]
