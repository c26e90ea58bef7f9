"""dataset_fn may ask for the strategy; elements can be any structure."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def dataset_fn(ctx):
        return tf.data.Dataset.from_tensor_slices(
            {"x": [1, 2, 3, 4], "y": (["a", "b", "c", "d"], [0.5, 1.5, 2.5, 3.5])}
        )

    return steps(s, s.distribute_datasets_from_function(dataset_fn))
