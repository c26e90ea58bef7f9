"""Strings in any case and the enum are all accepted."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant([1.0, 3.0]) * (ctx.replica_id_in_sync_group + 1)
    )
    R = tf.distribute.ReduceOp
    return [
        [
            pull(s.reduce(op, v, axis=None))
            for op in ("SUM", "sum", "Sum", R.SUM, "MEAN", "mean", R.MEAN)
        ],
        [R.SUM.value, R.MEAN.value, [o.name for o in R]],
    ]
