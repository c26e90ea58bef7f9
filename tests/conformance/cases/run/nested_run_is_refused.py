"""run inside a replica function of the same strategy is a RuntimeError."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    return attempt(lambda: local(s, s.run(lambda: s.run(lambda: tf.constant(1)))))
