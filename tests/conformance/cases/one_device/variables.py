"""Variables: all aggregations act as the plain assignment."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.OneDeviceStrategy("/cpu:0")
    A = tf.VariableAggregation
    out = {}
    for k in ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        with s.scope():
            v = tf.Variable(1.0, aggregation=getattr(A, k))
        v.assign_add(1.0)
        s.run(lambda: v.assign_add(4.0))
        out[k] = [pull(v), len(s.experimental_local_results(v))]
    return out
