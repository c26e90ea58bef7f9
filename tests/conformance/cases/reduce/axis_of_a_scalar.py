"""A scalar has no axis 0 to reduce."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.run(
        lambda: (
            tf.constant(1.0)
            * tf.cast(
                tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32
            )
        )
    )
    return [
        "refused"
        if "error" in attempt(lambda: {"v": s.reduce(op, v, axis=0)})
        else "accepted"
        for op in ("SUM", "MEAN")
    ]
