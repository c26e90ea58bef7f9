"""gather of a scalar, and of values that differ in another axis."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    make = s.experimental_distribute_values_from_function
    scalar = make(lambda ctx: tf.constant(1.0))
    other = make(lambda ctx: tf.ones([2, 2 + ctx.replica_id_in_sync_group]))
    return [
        "error" in attempt(lambda: s.gather(scalar, axis=0)),
        "error" in attempt(lambda: s.gather(other, axis=0)),
    ]
