"""ON_READ variables in compiled steps: local in them, aggregated outside."""

from conformance.kit import local, pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    A = tf.VariableAggregation
    with s.scope():
        vs = {
            k: tf.Variable(
                1.0,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=getattr(A, k),
            )
            for k in ("SUM", "MEAN", "ONLY_FIRST_REPLICA")
        }

    @tf.function
    def step():
        def fn():
            i = tf.distribute.get_replica_context().replica_id_in_sync_group
            for v in vs.values():
                v.assign_add(tf.cast(i, tf.float32) + 1.0)
            return vs["MEAN"] * 10.0

        return s.run(fn)

    @tf.function
    def read():
        return {k: v.read_value() for k, v in vs.items()}

    out = [local(s, step()), local(s, step())]
    return [
        *out,
        {k: pull(v) for k, v in vs.items()},
        {k: local(s, v) for k, v in vs.items()},
        pull(read()),
    ]
