"""The element_spec has the structure of the elements."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.from_tensor_slices(({"x": [1, 2]}, ([3.0, 4.0], [5, 6]))).batch(
        2
    )
    spec = s.experimental_distribute_dataset(d).element_spec
    return [isinstance(spec, tuple), sorted(spec[0]), len(spec[1])]
