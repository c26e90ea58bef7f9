"""One replica in a MirroredStrategy: variables of all kinds."""

from conformance.kit import local, pull

REPLICAS = 1


def case(tf):
    s = tf.distribute.MirroredStrategy()
    A = tf.VariableAggregation
    out = {}
    for k in ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        for sync in ("AUTO", "ON_READ"):
            with s.scope():
                v = tf.Variable(
                    2.0,
                    synchronization=getattr(tf.VariableSynchronization, sync),
                    aggregation=getattr(A, k),
                )

            def fn():
                v.assign_add(tf.constant(1.0))
                return v * 2.0

            r = pull(s.run(fn))
            q = pull(tf.function(lambda: s.run(fn))())
            out[f"{k} {sync}"] = [r, q, local(s, v), v.trainable]
    return out
