"""Variables of other dtypes are mirrored as well."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        b = tf.Variable(True)
        n = tf.Variable([1, 2], dtype=tf.int64)
        h = tf.Variable(1.5, dtype=tf.float64)
    b.assign(False)
    n.assign_add([10, 20])
    return [local(s, b), local(s, n), local(s, h), h.dtype == tf.float64]
