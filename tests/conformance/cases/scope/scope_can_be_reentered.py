"""A strategy's scope can be entered again and again."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = []
    for i in range(3):
        with s.scope():
            out.append(local(s, tf.Variable(float(i))))
    return out
