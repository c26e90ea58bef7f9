"""value_fn may return numpy arrays or strings' tensors."""

import numpy as np

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    a = s.experimental_distribute_values_from_function(
        lambda ctx: np.array([1, 2]) * ctx.replica_id_in_sync_group
    )
    b = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant("r%d" % ctx.replica_id_in_sync_group)
    )
    return [local(s, a), local(s, b)]
