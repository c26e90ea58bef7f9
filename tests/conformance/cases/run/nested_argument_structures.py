"""DistributedValues inside nested lists, tuples and dicts are unpacked."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant(ctx.replica_id_in_sync_group + 1)
    )

    def fn(nest):
        return nest["a"][0] + nest["a"][1][0] * 10 + nest["b"] * 100

    return local(s, s.run(fn, args=({"a": [v, (v, 5)], "b": tf.constant(2)},)))
