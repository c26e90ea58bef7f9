"""Vectors assigned by replicas: every aggregation with every kind of assignment."""

from conformance.kit import local

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    A = tf.VariableAggregation
    out = {}
    for k in ("SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        for op in ("assign", "assign_add", "assign_sub"):
            with s.scope():
                v = tf.Variable([1.0, 2.0], aggregation=getattr(A, k))

            def fn():
                i = tf.distribute.get_replica_context().replica_id_in_sync_group
                getattr(v, op)(tf.cast([i + 1, i * 2], tf.float32))
                return v.read_value()

            eager = local(s, s.run(fn))
            compiled = local(s, tf.function(lambda: s.run(fn))())
            out[f"{k} {op}"] = [eager, compiled, local(s, v)]
    return out
