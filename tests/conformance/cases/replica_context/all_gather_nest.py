"""Docs: all_gather of a nest whose members differ in length."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    a = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant([ctx.replica_id_in_sync_group])
    )
    b = s.experimental_distribute_values_from_function(
        lambda ctx: (
            tf.constant([[0, 1]])
            if ctx.replica_id_in_sync_group == 0
            else tf.constant([[2, 3], [4, 5]])
        )
    )

    def fn(x, y):
        return tf.distribute.get_replica_context().all_gather({"a": x, "b": y}, axis=0)

    return local(s, s.run(fn, args=(a, b)))
