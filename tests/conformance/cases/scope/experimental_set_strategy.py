"""experimental_set_strategy installs a strategy without a with block."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    D = tf.distribute
    D.experimental_set_strategy(s)
    a = [D.has_strategy(), D.get_strategy() is s, D.in_cross_replica_context()]
    v = tf.Variable(1.0)
    D.experimental_set_strategy(None)
    return [a, local(s, v), D.has_strategy()]
