"""Loops over tensors with runs in them; break, continue and early return."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

    def step(k):
        v.assign_add(tf.cast(k, tf.float32))
        return v.read_value()

    @tf.function
    def train(n):
        last = tf.constant(0.0)
        for k in tf.range(n):
            if k == 1:
                continue
            r = s.run(step, args=(k,))
            last = s.reduce("MEAN", r, axis=None)
            if last > 10.0:
                break
        return last

    return [pull(train(tf.constant(3))), pull(train(tf.constant(10))), pull(v)]
