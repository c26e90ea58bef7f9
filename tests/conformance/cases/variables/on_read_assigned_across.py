"""ON_READ variables assigned outside of a run: SUM is shared out, others copied."""

from conformance.kit import attempt, local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    A = tf.VariableAggregation
    out = []
    for k in ("SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        with s.scope():
            v = tf.Variable(
                [1.0, 3.0],
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=getattr(A, k),
            )
        first = local(s, v)
        v.assign(tf.constant([6.0, 8.0]))
        out.append(
            [
                first,
                pull(v),
                local(s, v),
                attempt(lambda: v.assign_add(tf.constant([2.0, 2.0]))),
            ]
        )
        out.append(local(s, v))
    return out
