"""axis 0, 1, -1 and None of a 2-D value."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: (
            tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
            * (10.0 if ctx.replica_id_in_sync_group else 1.0)
        )
    )
    return {
        "%s %s" % (op, axis): pull(s.reduce(op, v, axis=axis))
        for op in ("SUM", "MEAN")
        for axis in (None, 0, 1, -1)
    }
