"""NumPy arrays, lists and numbers can be assigned; other shapes cannot."""

import numpy as np

from conformance.kit import attempt, local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable([1.0, 2.0])
        n = tf.Variable(1)
    v.assign(np.array([3.0, 4.0]))
    a = local(s, v)
    v.assign([5, 6])
    n.assign(np.int32(7))
    n.assign_add(1)
    return [
        a,
        pull(v),
        pull(n),
        attempt(lambda: v.assign([1.0, 2.0, 3.0])),
        attempt(lambda: v.assign(1.0)),
        attempt(lambda: v.assign(tf.constant([1, 2]))),
        pull(v),
    ]
