"""A nest of plain values gives a nest for each replica, a plain value itself."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    one = tf.distribute.OneDeviceStrategy("/cpu:0")
    values = (1, "a", None, [1, 2], {"a": tf.constant(1)}, (3, [4]))
    return [
        [pull(s.experimental_local_results(v)) for v in values],
        [pull(one.experimental_local_results(v)) for v in values],
    ]
