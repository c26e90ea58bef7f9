"""Saved with 2 replicas, restored with 4, and the other way."""

import os

from conformance.kit import local

REPLICAS = 4


def case(tf):
    two = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    four = tf.distribute.MirroredStrategy()
    with two.scope():
        a = tf.Variable([1.0, 2.0])
    with four.scope():
        b = tf.Variable([0.0, 0.0])
        c = tf.Variable(5)
    with two.scope():
        d = tf.Variable(0)
    p = tf.train.Checkpoint(x=a).save(os.path.join(os.getcwd(), "one"))
    q = tf.train.Checkpoint(x=c).save(os.path.join(os.getcwd(), "two"))
    tf.train.Checkpoint(x=b).restore(p)
    tf.train.Checkpoint(x=d).restore(q)
    return [local(four, b), local(two, d)]
