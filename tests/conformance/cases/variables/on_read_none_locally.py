"""ON_READ without aggregation: its parts can be looked at, inside and outside."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable([1.0, 2.0], synchronization=tf.VariableSynchronization.ON_READ)

    @tf.function
    def f():
        def fn():
            i = tf.distribute.get_replica_context().replica_id_in_sync_group
            v.assign_add(tf.fill([2], tf.cast(i, tf.float32)))
            return v.read_value()

        return s.run(fn)

    return [local(s, f()), local(s, f()), local(s, v), attempt(lambda: v.read_value())]
