"""Lengths may differ along the gathered axis."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: (
            tf.ones([2, 1 + ctx.replica_id_in_sync_group])
            * (1.0 + ctx.replica_id_in_sync_group)
        )
    )
    return pull(s.gather(v, axis=1))
