"""Scopes entered in functions; another strategy's in one is refused."""

from conformance.kit import attempt, pull

REPLICAS = 2


def case(tf):
    a = tf.distribute.MirroredStrategy()
    b = tf.distribute.MirroredStrategy(["CPU:0"])

    @tf.function
    def f(x):
        with a.scope():
            inside = tf.distribute.get_strategy().num_replicas_in_sync
        return x + inside

    @tf.function
    def g(x):
        with b.scope():
            return x + 1

    def both():
        with a.scope():
            return g(tf.constant(1))

    return [pull(f(tf.constant(1))), attempt(both), pull(g(tf.constant(1)))]
