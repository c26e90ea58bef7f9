"""A variable made in scope has one component per replica, all equal."""

from conformance.kit import pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable([1.0, 2.0], name="w")
    parts = s.experimental_local_results(v)
    return [
        len(parts),
        pull(list(parts)),
        pull(v),
        list(v.shape),
        v.dtype == tf.float32,
        isinstance(v, tf.Variable),
        isinstance(v, tf.distribute.DistributedValues),
        v.name,
        len(set(p.device for p in parts)),
    ]
