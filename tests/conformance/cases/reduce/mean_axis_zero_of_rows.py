"""MEAN axis=0 of uneven rows keeps the trailing dimension."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: (
            tf.constant([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
            if ctx.replica_id_in_sync_group == 0
            else tf.constant([[6.0, 60.0]])
        )
    )
    return [pull(s.reduce("MEAN", v, axis=0)), pull(s.reduce("SUM", v, axis=0))]
