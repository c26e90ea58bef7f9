"""assign, assign_add, assign_sub outside run set every component."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0)
        v.assign(5.0)
        a = local(s, v)
    b = pull(v.assign_add(2.0))
    c = pull(v.assign_sub(3.0))
    return [a, b, c, local(s, v)]
