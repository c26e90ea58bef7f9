"""MEAN over axis 0 of replicas with different numbers of rows, one of them none."""

from conformance.kit import pull

REPLICAS = 4


def case(tf):
    s = tf.distribute.MirroredStrategy()
    rows = [3, 1, 0, 2]
    x = s.experimental_distribute_values_from_function(
        lambda ctx: (
            tf.cast(tf.range(rows[ctx.replica_id_in_sync_group]), tf.float32)
            + 10.0 * ctx.replica_id_in_sync_group
        )
    )

    @tf.function
    def f(x):
        return s.reduce("SUM", x, axis=0), s.reduce("MEAN", x, axis=0)

    return [
        pull(s.reduce("SUM", x, axis=0)),
        pull(s.reduce("MEAN", x, axis=0)),
        pull(f(x)),
    ]
