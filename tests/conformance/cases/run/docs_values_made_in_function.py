"""Docs: values made in a function, each the number of replicas, and run with."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    @tf.function
    def run():
        values = s.experimental_distribute_values_from_function(
            lambda ctx: ctx.num_replicas_in_sync
        )
        ids = s.experimental_distribute_values_from_function(
            lambda ctx: tf.constant(ctx.replica_id_in_sync_group)
        )
        return (
            s.run(lambda x: x * 2, args=(values,)),
            s.run(lambda x, i: x * 2 + i, args=(values, ids)),
        )

    return local(s, run())
