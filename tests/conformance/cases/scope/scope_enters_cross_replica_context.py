"""Docs: entering the scope enters the cross-replica context."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    D = tf.distribute
    a = D.in_cross_replica_context()
    with s.scope():
        b = D.in_cross_replica_context()
    return [a, b, D.in_cross_replica_context()]
