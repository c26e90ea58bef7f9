"""A value of another shape assigned in a step is refused, with any aggregation."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable([1.0, 2.0], aggregation=tf.VariableAggregation.MEAN)
    return [
        "error" in attempt(lambda: s.run(lambda: v.assign(tf.ones([3])) and None)),
        local(s, v),
    ]
