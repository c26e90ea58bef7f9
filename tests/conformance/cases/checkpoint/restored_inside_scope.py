"""Restoring inside the scope works as outside."""

import os

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0)
        path = tf.train.Checkpoint(v=v).save(os.path.join(os.getcwd(), "ck"))
        v.assign(2.0)
        tf.train.Checkpoint(v=v).restore(path)
        a = local(s, v)
    return [a, pull(v)]
