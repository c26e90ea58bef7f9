"""trainable defaults to True; ON_READ variables default to not trainable."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        a = tf.Variable(1.0)
        b = tf.Variable(1.0, trainable=False)
        c = tf.Variable(
            1.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    return [a.trainable, b.trainable, c.trainable]
