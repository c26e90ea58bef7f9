"""The end of the data: StopIteration, OutOfRangeError, empty optional."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.OneDeviceStrategy("/cpu:0")
    dist = s.experimental_distribute_dataset(tf.data.Dataset.range(2).batch(2))
    a, b, c = iter(dist), iter(dist), iter(dist)
    next(a), b.get_next(), c.get_next_as_optional()
    return [
        attempt(lambda: next(a)),
        attempt(b.get_next),
        bool(c.get_next_as_optional().has_value()),
    ]
