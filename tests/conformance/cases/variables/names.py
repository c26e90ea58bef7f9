"""Names of variables, with and without a scope."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        a, b = tf.Variable(1.0), tf.Variable(1.0, name="w")
    c, d = tf.Variable(1.0), tf.Variable(1.0, name="dense/kernel")
    return [x.name for x in (a, b, c, d)]
