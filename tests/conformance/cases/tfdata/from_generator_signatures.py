"""from_generator: output_signature, old arguments, args, structure."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    def pairs():
        for i in range(3):
            yield i, [i * 1.0, i * 2.0]

    a = tf.data.Dataset.from_generator(
        pairs,
        output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.float32)),
    )
    b = tf.data.Dataset.from_generator(
        pairs, output_types=(tf.int64, tf.float32), output_shapes=([], [2])
    )
    c = tf.data.Dataset.from_generator(
        lambda n: iter(range(n)),
        args=(4,),
        output_signature=tf.TensorSpec([], tf.int64),
    )
    return [[pull(x) for x in d] for d in (a, b, c, a)]
