"""Per-replica values made of Python numbers and NumPy arrays."""

import numpy as np

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    n = s.experimental_distribute_values_from_function(
        lambda ctx: ctx.replica_id_in_sync_group + 5
    )
    a = s.experimental_distribute_values_from_function(
        lambda ctx: np.full([2], ctx.replica_id_in_sync_group, np.float32)
    )
    return [
        local(s, n),
        local(s, s.run(lambda n, a: a * 2.0 + n, args=(n, a))),
    ]
