"""An optional keeps its value while the iterator moves on."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    it = iter(s.experimental_distribute_dataset(tf.data.Dataset.range(6).batch(2)))
    first = it.get_next_as_optional()
    second = next(it)
    return [local(s, second), local(s, first.get_value()), local(s, first.get_value())]
