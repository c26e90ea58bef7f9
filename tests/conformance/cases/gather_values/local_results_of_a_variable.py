"""A mirrored variable's local results are its components."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable([1.0, 2.0])
    r = s.experimental_local_results(v)
    return [len(r), pull([c for c in r])]
