"""Docs: all_reduce in a replica function run from a tf.function."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    @tf.function
    def run():
        values = s.experimental_distribute_values_from_function(
            lambda ctx: tf.constant(ctx.replica_id_in_sync_group)
        )

        def replica_fn(x):
            return tf.distribute.get_replica_context().all_reduce("sum", x)

        return s.run(replica_fn, args=(values,))

    return local(s, run())
