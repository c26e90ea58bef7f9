"""A dict element comes back as a dict of per-replica values."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.from_tensor_slices(
        {"image": [[0, 1], [2, 3], [4, 5]], "label": [7, 8, 9]}
    ).batch(2)
    return steps(s, s.experimental_distribute_dataset(d))
