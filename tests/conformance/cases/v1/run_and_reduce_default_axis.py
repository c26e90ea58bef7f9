"""v1 reduce has axis=None by default."""

from conformance.kit import pull

REPLICAS = 2
API = "v1"


def case(tf):
    s = tf.distribute.MirroredStrategy()
    per = s.run(
        lambda: tf.distribute.get_replica_context().replica_id_in_sync_group + 1
    )
    return [
        pull(s.reduce("SUM", per)),
        pull(
            s.reduce(
                tf.distribute.ReduceOp.MEAN,
                s.run(
                    lambda: (
                        2.0
                        * tf.cast(
                            tf.distribute.get_replica_context().replica_id_in_sync_group,
                            tf.float32,
                        )
                    )
                ),
            )
        ),
    ]
