"""64-bit integers are summed exactly."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant(2**40 + 5 + ctx.replica_id_in_sync_group, tf.int64)
    )

    @tf.function
    def f(x):
        return s.reduce("SUM", x, axis=None)

    return [pull(s.reduce("SUM", x, axis=None)), pull(f(x))]
