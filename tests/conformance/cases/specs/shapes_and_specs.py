"""What shapes and specs can be asked, and how they are put together."""

from conformance.kit import attempt

REPLICAS = 1


def case(tf):
    shape, spec = tf.TensorShape, tf.TensorSpec
    d = tf.data.Dataset.range(6).batch(2).batch(3, drop_remainder=True)
    found = d.element_spec.shape
    return [
        [found.as_list(), found.rank, found.ndims, found[0], found[1:].as_list()],
        [str(found), str(shape(None)), repr(shape([2, None])), len(found)],
        [shape([2, 3]).num_elements(), shape([2, None]).num_elements()],
        [shape([1]).concatenate([2]).as_list(), (shape([1]) + [None]).as_list()],
        shape([2, None]).merge_with([None, 3]).as_list(),
        attempt(lambda: shape([2]).merge_with([3])),
        attempt(lambda: shape([-1])),
        [shape(3).as_list(), shape([2]) == [2], shape([]).rank],
        spec.from_tensor(tf.constant([1, 2])).shape.as_list(),
        [spec([2], tf.int32, "a").name, spec.from_spec(spec([2]), name="b").name],
        [spec([None]).is_compatible_with(spec([2])), spec([2]) == spec([3])],
        spec(4, tf.int32).shape.as_list(),
    ]
