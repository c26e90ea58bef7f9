"""A tensor that all replicas return comes back as it is; a copy is one for each."""

import numpy as np

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = tf.constant([1.0, 2.0])

    @tf.function
    def step(v):
        return (
            s.run(lambda u: u, args=(v,)),
            s.run(lambda u: (u, u + 1.0), args=(v,)),
            s.run(lambda: v),
            s.run(lambda: x),
        )

    return [
        local(s, s.run(lambda u: u, args=(x,))),
        local(s, s.run(lambda: x)),
        local(s, s.run(lambda u: {"a": u, "b": u * 1.0}, args=(x,))),
        local(s, s.run(lambda u: u, args=(np.array([3.0], np.float32),))),
        local(s, s.run(tf.identity, args=(x,))),
        local(s, step(x)),
    ]
