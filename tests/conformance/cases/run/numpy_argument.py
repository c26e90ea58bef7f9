"""A numpy array argument reaches every replica whole."""

import numpy as np

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    r = s.run(lambda x: tf.reduce_sum(x), args=(np.array([1.0, 2.0, 3.0], np.float32),))
    return local(s, r)
