"""A value read earlier does not change with later assignments."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0)
    before = v.read_value()
    also = tf.identity(v)
    v.assign(9.0)
    return [pull(before), pull(also), pull(v)]
