"""A variable created in the first call of a function, under a scope."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    kept = []

    @tf.function
    def count(x):
        if not kept:
            with s.scope():
                kept.append(tf.Variable(10.0))
        kept[0].assign_add(x)
        return kept[0].read_value()

    out = [pull(count(tf.constant(1.0))), pull(count(tf.constant(2.0)))]
    return [
        out,
        local(s, kept[0]),
        isinstance(kept[0], tf.distribute.DistributedValues),
    ]
