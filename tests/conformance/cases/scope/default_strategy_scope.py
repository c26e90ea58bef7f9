"""The default strategy's scope can be entered outside of others."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.get_strategy()
    with s.scope():
        v = tf.Variable(1.0)
        inside = tf.distribute.has_strategy()
    return [
        inside,
        pull(v.assign_add(1.0)),
        isinstance(v, tf.distribute.DistributedValues),
    ]
