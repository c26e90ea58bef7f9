"""element_spec is the dataset's own, usable as an input_signature."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.OneDeviceStrategy("/cpu:0")
    dist = s.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(2))

    @tf.function(input_signature=[dist.element_spec])
    def fn(x):
        return s.run(lambda v: tf.reduce_sum(v), args=(x,))

    return [
        dist.element_spec == tf.TensorSpec([None], tf.int64),
        [pull(fn(x)) for x in dist],
    ]
