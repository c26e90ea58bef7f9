"""Docs: partial batches of different shapes need an axis."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: (
            tf.constant([0.0, 1.0, 2.0, 3.0])
            if ctx.replica_id_in_sync_group == 0
            else tf.constant([4.0, 5.0])
        )
    )
    return (
        "refused"
        if "error" in attempt(lambda: {"v": s.reduce("SUM", v, axis=None)})
        else "accepted"
    )
