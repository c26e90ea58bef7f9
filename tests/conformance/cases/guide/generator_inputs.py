"""Guide: Dataset.from_generator rows of 4 distributed without batch()."""

import numpy as np

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def input_gen():
        n = 0
        while True:
            n += 1
            yield np.arange(4) + 10.0 * n

    dataset = tf.data.Dataset.from_generator(
        input_gen, output_types=(tf.float32), output_shapes=tf.TensorShape([4])
    )
    it = iter(s.experimental_distribute_dataset(dataset))
    return [local(s, s.run(lambda x: x, args=(next(it),))) for _ in range(4)]
