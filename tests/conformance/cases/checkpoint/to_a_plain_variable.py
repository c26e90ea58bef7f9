"""Saved mirrored, restored into a plain variable, and back."""

import os

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        m = tf.Variable(3.0)
    p = tf.Variable(0.0)
    path = tf.train.Checkpoint(v=m).save(os.path.join(os.getcwd(), "a"))
    tf.train.Checkpoint(v=p).restore(path)
    first = pull(p)
    p.assign(8.0)
    path = tf.train.Checkpoint(v=p).save(os.path.join(os.getcwd(), "b"))
    tf.train.Checkpoint(v=m).restore(path)
    return [first, local(s, m)]
