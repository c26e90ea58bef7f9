"""Rows of unknown length are split by the length each one has."""

import numpy as np

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def rows():
        for n in (4, 3, 1, 2):
            yield np.arange(n, dtype=np.int64)

    d = tf.data.Dataset.from_generator(
        rows, output_signature=tf.TensorSpec([None], tf.int64)
    )
    return steps(s, s.experimental_distribute_dataset(d))
