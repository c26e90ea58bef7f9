"""Python numbers and NumPy arrays of the caller are used as they are."""

import numpy as np

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    table = np.array([10.0, 20.0], np.float32)
    rate = 0.5
    names = {"a": 1, "b": 2}

    @tf.function
    def f(x):
        def fn(y):
            return y * rate + table * names["b"]

        return s.run(fn, args=(x,)), tf.reduce_sum(x * table)

    r, t = f(tf.constant([2.0, 4.0]))
    return [local(s, r), pull(t)]
