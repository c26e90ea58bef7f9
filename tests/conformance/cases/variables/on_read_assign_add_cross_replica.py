"""ON_READ assign_add outside run: refused for SUM, to each for the others."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    A, R = tf.VariableAggregation, tf.VariableSynchronization.ON_READ
    out = {}
    for k in ("SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        with s.scope():
            v = tf.Variable(1.0, synchronization=R, aggregation=getattr(A, k))
            a = attempt(lambda: v.assign_add(6.0))
            b = attempt(lambda: v.assign_sub(2.0))
        out[k] = [a, b, local(s, v)]
    return out
