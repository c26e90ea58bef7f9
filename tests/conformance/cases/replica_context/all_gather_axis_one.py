"""all_gather along axis 1: the other dimensions must agree."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: (
            tf.constant([[1], [2]])
            if ctx.replica_id_in_sync_group == 0
            else tf.constant([[3, 4], [5, 6]])
        )
    )

    def fn(x):
        return tf.distribute.get_replica_context().all_gather(x, axis=1)

    return local(s, s.run(fn, args=(v,)))
