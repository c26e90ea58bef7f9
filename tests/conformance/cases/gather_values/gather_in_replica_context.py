"""gather in a replica function is a RuntimeError."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    return attempt(lambda: local(s, s.run(lambda: s.gather(tf.constant([1]), axis=0))))
