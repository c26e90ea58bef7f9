"""All components are empty on a replica without data; shapes follow."""

import numpy as np

from conformance.kit import local

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.from_tensor_slices(
        (np.ones((4, 3), np.float32), ["a", "b", "c", "d"])
    ).batch(3)
    out = []
    for x, y in s.experimental_distribute_dataset(d):
        out.append(
            [[list(v.shape) for v in s.experimental_local_results(x)], local(s, y)]
        )
    return out
