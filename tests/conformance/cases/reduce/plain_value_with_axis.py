"""A plain value is reduced along an axis on every replica, and then over them."""

import numpy as np

from conformance.kit import attempt, pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def both(v):
        return s.reduce("SUM", v, axis=0), s.reduce("MEAN", v, axis=0)

    return [
        *(
            pull(s.reduce(op, x, axis=axis))
            for op in ("SUM", "MEAN")
            for axis in (0, 1, (0, 1))
        ),
        pull(both(x)),
        pull(s.reduce("SUM", np.array([1.0, 2.0]), axis=0)),
        attempt(lambda: s.reduce("SUM", x, axis=None)),
        attempt(lambda: s.reduce("SUM", s.run(lambda v: v, (x,)), axis=None)),
    ]
