"""ON_READ SUM saved with 2 replicas keeps its total with 4."""

import os

from conformance.kit import local, pull

REPLICAS = 4


def case(tf):
    two = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    four = tf.distribute.MirroredStrategy()
    kw = dict(
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )
    with two.scope():
        a = tf.Variable(3.0, **kw)
    with four.scope():
        b = tf.Variable(0.0, **kw)
    path = tf.train.Checkpoint(v=a).save(os.path.join(os.getcwd(), "ck"))
    tf.train.Checkpoint(v=b).restore(path)
    return [pull(a), local(four, b), pull(b)]
