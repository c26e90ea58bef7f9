"""get_next_as_optional() on an endless dataset always has a value."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(3).repeat().batch(2)
    it = iter(s.experimental_distribute_dataset(d))
    out = []
    for _ in range(3):
        o = it.get_next_as_optional()
        out.append([bool(o.has_value()), local(s, o.get_value())])
    return out
