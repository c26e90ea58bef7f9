"""dtype= converts the initial value; tensors and lists are fine."""

import numpy as np

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        a = tf.Variable(1, dtype=tf.float32)
        b = tf.Variable(tf.zeros([2, 2]))
        c = tf.Variable(np.array([1, 2], np.int32))
    return [
        pull(a),
        a.dtype == tf.float32,
        local(s, b),
        c.dtype == tf.int32,
        local(s, c),
    ]
