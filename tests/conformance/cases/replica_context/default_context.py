"""Outside of any scope there is a context of one replica, and collectives work."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    ctx = tf.distribute.get_replica_context()
    x = tf.constant([1.0, 2.0])
    return [
        pull(ctx.replica_id_in_sync_group),
        ctx.num_replicas_in_sync,
        pull(ctx.all_reduce("SUM", x)),
        pull(ctx.all_reduce("MEAN", x)),
        pull(ctx.merge_call(lambda strategy, v: v * 2.0, args=(x,))),
        pull(tf.distribute.get_strategy().run(lambda a: a + 1.0, args=(x,))),
        pull(tf.distribute.get_strategy().reduce("SUM", x, axis=0)),
    ]
