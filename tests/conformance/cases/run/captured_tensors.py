"""fn may close over tensors and Python state of the caller."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    w = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    dist = s.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices([[1.0, 0.0], [0.0, 1.0]]).batch(2)
    )
    return [local(s, s.run(lambda x: tf.matmul(x, w), args=(x,))) for x in dist]
