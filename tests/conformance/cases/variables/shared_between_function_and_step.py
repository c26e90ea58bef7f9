"""A function that reads, runs a step that writes, and reads again."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
        c = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def f(x):
        before = v.read_value()

        def fn(y):
            v.assign_add(y * v)
            return v.read_value()

        r = s.run(fn, args=(x,))
        c.assign_add(1)
        v.assign_sub(0.5)
        return before, r, v * 1.0, c.read_value()

    out = []
    for k in (1.0, 2.0):
        b, r, a, n = f(tf.constant(k))
        out.append([pull(b), local(s, r), pull(a), pull(n)])
    return [out, local(s, v), local(s, c)]
