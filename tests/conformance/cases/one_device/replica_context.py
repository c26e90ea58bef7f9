"""all_reduce, all_gather and merge_call with a single replica."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.OneDeviceStrategy("/cpu:0")

    def fn():
        ctx = tf.distribute.get_replica_context()
        x = tf.constant([1.0, 2.0])
        return (
            ctx.replica_id_in_sync_group,
            ctx.all_reduce("sum", x),
            ctx.all_reduce("mean", {"k": x})["k"],
            ctx.all_gather(x, axis=0),
            ctx.merge_call(lambda strategy, v: v * 3.0, args=(x,)),
        )

    return pull(s.run(fn))
