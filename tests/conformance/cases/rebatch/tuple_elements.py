"""Every component of a tuple element is split the same way."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = tf.data.Dataset.from_tensor_slices(
        ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [10, 20, 30])
    )
    return steps(s, s.experimental_distribute_dataset(x.batch(3)))
