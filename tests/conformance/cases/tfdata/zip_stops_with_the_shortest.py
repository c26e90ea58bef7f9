"""zip stops with its shortest input; nests are kept."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    a, b = tf.data.Dataset.range(5), tf.data.Dataset.range(10, 13)
    return [
        [pull(x) for x in tf.data.Dataset.zip((a, b))],
        [pull(x) for x in tf.data.Dataset.zip({"a": a, "b": (b, a)})],
    ]
