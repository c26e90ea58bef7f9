"""Docs: a restore may come before the variable is created in the scope."""

import os

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(7.0)
    path = tf.train.Checkpoint(v=v).save(os.path.join(os.getcwd(), "ck"))
    ck = tf.train.Checkpoint()
    ck.restore(path)
    with s.scope():
        ck.v = tf.Variable(0.0)
    return [local(s, ck.v)]
