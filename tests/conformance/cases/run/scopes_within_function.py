"""A function entered in the strategy's own scope, runs in it, and nested functions."""

from conformance.kit import local, pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    seen = []

    @tf.function
    def inner(x):
        return x * 2.0

    @tf.function
    def outer(x):
        with s.scope():
            seen.append(
                [
                    tf.distribute.get_strategy() is s,
                    tf.distribute.in_cross_replica_context(),
                ]
            )
            r = s.run(lambda y: inner(y) + 1.0, args=(x,))
        return r, s.reduce("SUM", r, axis=None)

    with s.scope():
        r, t = outer(tf.constant(1.0))
    u, _ = outer(tf.constant(2.0))
    return [local(s, r), pull(t), local(s, u), seen[0], tf.distribute.has_strategy()]
