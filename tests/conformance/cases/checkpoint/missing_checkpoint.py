"""Restoring a checkpoint that does not exist is an error."""

import os

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0)
    r = attempt(
        lambda: (
            tf.train.Checkpoint(v=v).restore(os.path.join(os.getcwd(), "nothing"))
            is not None
        )
    )
    return [r, local(s, v)]
