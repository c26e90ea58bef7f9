"""batch and unbatch of dict elements; drop_remainder."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    d = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [[1.0], [2.0], [3.0]]})
    return [
        [pull(x) for x in d.batch(2)],
        [pull(x) for x in d.batch(2, drop_remainder=True)],
        [pull(x) for x in d.batch(2).unbatch()],
    ]
