"""next() and get_next() and get_next_as_optional() advance one iterator."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    it = iter(s.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(2)))
    return [
        local(s, next(it)),
        local(s, it.get_next()),
        local(s, it.get_next_as_optional().get_value()),
        local(s, next(it)),
    ]
