"""Docs: np.ones([10]) as a dataset, then distributed."""

import numpy as np

from conformance.kit import pull, steps

REPLICAS = 2
API = "v1"


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = s.experimental_make_numpy_dataset(np.ones([10], dtype=np.float32))
    dist = s.experimental_distribute_dataset(d.batch(4))
    return [[pull(x) for x in d], steps(s, dist)]
