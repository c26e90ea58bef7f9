"""`if` on the replica id, eager and in a function."""

from conformance.kit import local

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def fn(x):
        ctx = tf.distribute.get_replica_context()
        if ctx.replica_id_in_sync_group == 0:
            y = x * 10.0
        else:
            y = x + 1.0
        return ctx.all_reduce("SUM", y)

    @tf.function
    def step(x):
        return s.run(fn, args=(x,))

    x = tf.constant(2.0)
    return [local(s, s.run(fn, args=(x,))), local(s, step(x)), local(s, step(x))]
