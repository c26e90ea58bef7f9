"""run enters the strategy's scope and a replica context."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    seen = []

    def fn():
        seen.append(
            [
                tf.distribute.get_strategy() is s,
                tf.distribute.has_strategy(),
                tf.distribute.in_cross_replica_context(),
                tf.distribute.get_replica_context() is not None,
            ]
        )
        return tf.constant(1)

    s.run(fn)
    return seen
