"""Arguments that do and do not fit a signature of a distributed dataset."""

from conformance.kit import attempt, local, steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dataset = tf.data.Dataset

    def given(signature, d):
        fn = tf.function(input_signature=[signature])(
            lambda x: s.run(lambda v: v, args=(x,))
        )
        dist = s.experimental_distribute_dataset(d)
        return attempt(lambda: [local(s, fn(x)) for x in dist])

    numbers = dataset.range(6).batch(4)
    spec = s.experimental_distribute_dataset(numbers).element_spec
    text = dataset.from_tensor_slices(["a", "b", "c"]).batch(2)
    plain = tf.function(input_signature=[spec])(lambda x: x)
    return [
        given(spec, dataset.range(5).batch(3)),
        given(spec, dataset.range(4, output_type=tf.int32).batch(2)),
        given(spec, dataset.zip((numbers, numbers))),
        given(tf.TensorSpec([None], tf.int64), numbers),
        attempt(lambda: plain(tf.constant([1, 2], tf.int64))),
        given(s.experimental_distribute_dataset(text).element_spec, text),
        steps(s, s.experimental_distribute_dataset(text)),
    ]
