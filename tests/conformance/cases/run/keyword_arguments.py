"""kwargs may hold DistributedValues, tensors and Python values."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant([ctx.replica_id_in_sync_group])
    )

    def fn(a, b=0, c=0):
        return a + b * 10 + c * 100

    return local(s, s.run(fn, args=(tf.constant([1]),), kwargs={"b": v, "c": 3}))
