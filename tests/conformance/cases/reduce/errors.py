"""What reduce refuses."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = s.experimental_distribute_values_from_function(lambda ctx: tf.ones([2]))
    return [
        attempt(lambda: s.reduce("MAX", x, axis=None)),
        attempt(lambda: s.reduce("SUM", x)),
        "error" in attempt(lambda: s.reduce("SUM", x, axis=3)),
        attempt(lambda: s.reduce("SUM", tf.constant(1.0), axis=None)),
        attempt(lambda: s.reduce("MEAN", tf.constant(1.0), axis=None)),
        attempt(lambda: s.run(lambda: s.reduce("SUM", tf.ones([]), axis=None)) and 1),
    ]
