"""In the scope, outside run, get_replica_context() is None."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        return [
            tf.distribute.get_replica_context() is None,
            attempt(
                lambda: tf.distribute.get_replica_context().all_reduce(
                    "sum", tf.constant(1.0)
                )
            ),
        ]
