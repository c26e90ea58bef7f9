"""A negative axis counts from the end."""

from conformance.kit import attempt, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = s.experimental_distribute_values_from_function(
        lambda ctx: (
            tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
            * (ctx.replica_id_in_sync_group + 1)
        )
    )
    return [
        pull(s.reduce("SUM", x, axis=-1)),
        pull(s.reduce("MEAN", x, axis=-1)),
        attempt(lambda: s.reduce("SUM", x, axis=(-1, 0))),
    ]
