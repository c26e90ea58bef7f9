"""ON_READ assign outside run: SUM is divided among replicas, MEAN copied."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    A, R = tf.VariableAggregation, tf.VariableSynchronization.ON_READ
    out = {}
    for k in ("SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        with s.scope():
            v = tf.Variable(0.0, synchronization=R, aggregation=getattr(A, k))
            v.assign(6.0)
        out[k] = [local(s, v), pull(v)]
    return out
