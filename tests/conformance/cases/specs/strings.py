"""element_spec of strings; what the optionals of distributed iterators say."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.from_tensor_slices({"a": ["x", "y"], "b": [1, 2]}).batch(2)
    spec = d.element_spec
    iterator = iter(s.experimental_distribute_dataset(d))
    first, second = iterator.get_next_as_optional(), iterator.get_next_as_optional()
    return [
        {k: [v.shape.as_list(), v.dtype.name] for k, v in spec.items()},
        [spec["a"].dtype == tf.string, tf.string.name],
        second.element_spec == iterator.element_spec,
        [bool(first.has_value()), bool(second.has_value())],
    ]
