"""all_reduce several times in a step, the later of the earlier's result."""

from conformance.kit import local

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def fn(x):
        ctx = tf.distribute.get_replica_context()
        for _ in range(3):
            total = ctx.all_reduce("SUM", x)
            x = total / 2.0 + x
        return x, ctx.all_reduce(tf.distribute.ReduceOp.MEAN, x)

    x = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant([1.0, 2.0]) * (ctx.replica_id_in_sync_group + 1)
    )
    compiled = tf.function(lambda x: s.run(fn, args=(x,)))
    return [local(s, s.run(fn, args=(x,))), local(s, compiled(x))]
