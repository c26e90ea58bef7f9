"""ON_READ with no aggregation can be updated in a replica, not read outside."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ)

    def fn():
        v.assign_add(1.0)
        return v.read_value()

    return [local(s, s.run(fn)), attempt(lambda: v.read_value())]
