"""Two workers: every worker gets the whole sum and mean."""

from conformance.kit import pull

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    v = s.run(
        lambda: (
            tf.constant([1.0, 2.0])
            + 10.0
            * tf.cast(
                tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32
            )
        )
    )
    return [
        pull(s.reduce("SUM", v, axis=None)),
        pull(s.reduce("MEAN", v, axis=None)),
        pull(s.reduce("SUM", v, axis=0)),
        pull(s.reduce("MEAN", v, axis=0)),
    ]
