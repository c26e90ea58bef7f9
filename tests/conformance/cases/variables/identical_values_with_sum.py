"""SUM of tensors that are the same on all replicas adds all of them."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
        m = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)

    def fn():
        v.assign_add(tf.constant(1.0))
        m.assign_add(tf.constant(1.0))

    def number():
        m.assign_add(1.0)

    s.run(fn)
    s.run(number)
    refused = attempt(lambda: s.run(lambda: v.assign_add(1.0)) and None)
    return [local(s, v), local(s, m), refused]
