"""Docs: each replica gets its component of a DistributedValues."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant(ctx.replica_id_in_sync_group)
    )
    return local(s, s.run(lambda x: x * 10 + 1, args=(v,)))
