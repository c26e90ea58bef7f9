"""Steps whose results have different shapes on the replicas."""

from conformance.kit import local, pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = s.experimental_distribute_values_from_function(
        lambda ctx: tf.reshape(
            tf.range(2 * ctx.replica_id_in_sync_group),
            [ctx.replica_id_in_sync_group, 2],
        )
    )

    def fn(x):
        ctx = tf.distribute.get_replica_context()
        n = ctx.all_reduce("SUM", tf.reduce_sum(tf.cast(x, tf.float32)))
        return x * 2, n, tf.concat([x, x], axis=0)

    out = []
    for run in (
        lambda x: s.run(fn, args=(x,)),
        tf.function(lambda x: s.run(fn, args=(x,))),
    ):
        a, n, b = run(x)
        out.append([local(s, a), local(s, n), local(s, b), pull(s.gather(b, axis=0))])
    return out
