"""What is read after one tensor was assigned on all replicas is each replica's own."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    c = tf.constant(2.0)
    agg, sync = tf.VariableAggregation, tf.VariableSynchronization
    out = []
    for kwargs in (
        {},
        {"aggregation": agg.MEAN},
        {"synchronization": sync.ON_READ, "aggregation": agg.SUM},
    ):
        with s.scope():
            v = tf.Variable(1.0, **kwargs)

        def given(x, v=v):
            v.assign(x)
            return v.read_value(), x

        def captured(v=v):
            v.assign(c)
            return v.read_value(), c

        def merged(v=v):
            ctx = tf.distribute.get_replica_context()
            t = ctx.merge_call(lambda strategy: tf.constant(7.0))
            v.assign(t)
            return v.read_value(), t

        for fn, args in ((given, (c,)), (captured, ()), (merged, ())):
            step = tf.function(lambda *a, fn=fn: s.run(fn, args=a))
            out.append([local(s, s.run(fn, args=args)), local(s, step(*args))])
    return out
