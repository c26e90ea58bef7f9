"""run may be called inside or outside the strategy's scope."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        a = s.run(lambda: tf.constant(1))
    b = s.run(lambda: tf.constant(2))
    return [local(s, a), local(s, b)]
