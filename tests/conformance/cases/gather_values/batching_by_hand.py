"""Docs: slicing an array by hand in value_fn gives a distributed batch."""

import numpy as np

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    data = np.arange(8)

    def value_fn(ctx):
        n = 8 // ctx.num_replicas_in_sync
        i = ctx.replica_id_in_sync_group
        return tf.constant(data[i * n : (i + 1) * n])

    v = s.experimental_distribute_values_from_function(value_fn)
    return [local(s, v), local(s, s.run(lambda x: tf.reduce_sum(x), args=(v,)))]
