"""Docs: 6 elements as [0,1,2,3] and [4,5]: MEAN axis=0 divides by 6."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: (
            tf.constant([0.0, 1.0, 2.0, 3.0])
            if ctx.replica_id_in_sync_group == 0
            else tf.constant([4.0, 5.0])
        )
    )
    means = s.run(lambda x: tf.reduce_mean(x), args=(v,))
    return [
        pull(s.reduce("MEAN", v, axis=0)),
        pull(s.reduce("SUM", v, axis=0)),
        pull(s.reduce("MEAN", means, axis=None)),
    ]
