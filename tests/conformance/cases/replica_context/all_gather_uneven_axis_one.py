"""all_gather along axis 1 of values of different lengths, eager and compiled."""

from conformance.kit import local

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = s.experimental_distribute_values_from_function(
        lambda ctx: (
            tf.ones([2, ctx.replica_id_in_sync_group + 1])
            * (ctx.replica_id_in_sync_group + 1)
        )
    )

    def fn(x):
        return tf.distribute.get_replica_context().all_gather(x, axis=1)

    compiled = tf.function(lambda x: s.run(fn, args=(x,)))
    return [local(s, s.run(fn, args=(x,))), local(s, compiled(x))]
