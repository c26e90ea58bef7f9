"""Strings are split like numbers."""

from conformance.kit import steps

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.from_tensor_slices(["a", "b", "c", "d", "e"]).batch(5)
    return steps(s, s.experimental_distribute_dataset(d))
