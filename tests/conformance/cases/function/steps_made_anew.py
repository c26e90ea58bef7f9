"""A step defined anew at every call of the outer function, and loops over runs."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)

    @tf.function
    def train(x, n=3):
        for i in range(n):

            def fn(y):
                v.assign_add(y * (i + 1.0))

            s.run(fn, args=(x,))
        return v.read_value()

    return [pull(train(tf.constant(1.0))), pull(train(tf.constant(2.0), n=2)), pull(v)]
