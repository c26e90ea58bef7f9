"""interleave: cycle_length and block_length set the order."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    def make(cycle, block):
        d = tf.data.Dataset.range(1, 5).interleave(
            lambda i: tf.data.Dataset.from_tensors(i).repeat(6),
            cycle_length=cycle,
            block_length=block,
        )
        return [pull(x) for x in d]

    return [make(2, 4), make(3, 1), make(1, 1), make(4, 2)]
