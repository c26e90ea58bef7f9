"""Structures and dtypes that differ where they have to be the same."""

from conformance.kit import attempt, pull

REPLICAS = 1


def case(tf):
    dataset = tf.data.Dataset
    d = dataset.range(3)
    text = dataset.from_tensors("a")
    pairs = tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32)

    def yielding(*values, **how):
        return lambda: [pull(x) for x in dataset.from_generator(lambda: values, **how)]

    rows = dataset.range(3).map(lambda n: tf.fill([n], n))
    return [
        attempt(lambda: list(d.concatenate(text))),
        attempt(lambda: list(d.concatenate(dataset.from_tensor_slices([1, 2])))),
        attempt(lambda: list(d.concatenate(dataset.zip((d, d))))),
        attempt(lambda: list(dataset.sample_from_datasets([d, text]))),
        attempt(yielding(1)),
        attempt(yielding(1, output_signature=pairs)),
        attempt(yielding((1, 2, 3), output_signature=pairs)),
        attempt(yielding("a", output_signature=pairs[0])),
        attempt(yielding([1, 2, 3], output_signature=tf.TensorSpec([2], tf.int32))),
        attempt(yielding((1, 2), output_signature=pairs)),
        attempt(lambda: list(rows.padded_batch(3, padded_shapes=[1]))),
        attempt(lambda: list(rows.batch(3))),
    ]
