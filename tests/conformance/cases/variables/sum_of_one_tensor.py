"""SUM of one tensor that all replicas have is refused, as that of a number is."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    c = tf.constant(2.0)
    out = {}
    for name in ("SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        with s.scope():
            v = tf.Variable(10.0, aggregation=tf.VariableAggregation[name])

        @tf.function
        def given(x, v=v):
            s.run(lambda u: v.assign_add(u), args=(x,))

        @tf.function
        def captured(v=v):
            s.run(lambda: v.assign_add(c))

        def do(fn, v=v):
            v.assign(10.0)
            return attempt(lambda: [fn() is None, v.numpy()][1])

        out[name] = [
            do(lambda v=v: s.run(lambda: v.assign_add(c))),
            do(lambda v=v: s.run(lambda u: v.assign_sub(u), args=(c,))),
            do(lambda v=v: s.run(lambda u: v.assign(u * 2.0), args=(c,))),
            do(lambda v=v: s.run(lambda: v.assign_add(tf.identity(c)))),
            do(lambda given=given: given(c)),
            do(captured),
        ]
    return out
