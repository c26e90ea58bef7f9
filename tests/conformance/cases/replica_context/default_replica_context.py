"""Outside any scope there is a default replica context of one replica."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    ctx = tf.distribute.get_replica_context()
    x = tf.constant(3.0)
    return [
        ctx.num_replicas_in_sync,
        pull(ctx.replica_id_in_sync_group),
        pull(ctx.all_reduce("sum", x)),
        pull(ctx.all_reduce("mean", [x, x * 2.0])),
        pull(ctx.all_gather(tf.constant([1, 2]), axis=0)),
        pull(ctx.merge_call(lambda strategy, v: v + 1.0, args=(x,))),
    ]
