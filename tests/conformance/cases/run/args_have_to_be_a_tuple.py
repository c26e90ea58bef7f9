"""args that are no tuple or list are a ValueError."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = tf.constant([1.0, 2.0])
    return [
        attempt(lambda: local(s, s.run(lambda a, b: a + b, args=x))),
        attempt(lambda: local(s, s.run(lambda a: a, args=3))),
        local(s, s.run(lambda a, b: tf.constant(a + b), args=[1, 2])),
    ]
