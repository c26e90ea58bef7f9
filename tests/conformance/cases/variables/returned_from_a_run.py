"""A mirrored variable returned from a run is that variable."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(3.0)
    r = s.run(lambda: v)
    t = s.run(lambda: {"v": v, "x": v + 1.0})
    return [r is v, local(s, r), t["v"] is v, local(s, t["x"])]
