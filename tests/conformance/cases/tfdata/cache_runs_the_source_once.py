"""cache: the generator under it runs for the first epoch only."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    runs = []

    def gen():
        runs.append(1)
        for i in range(3):
            yield i

    d = tf.data.Dataset.from_generator(
        gen, output_signature=tf.TensorSpec([], tf.int32)
    )
    c = d.cache()
    first = [[pull(x) for x in c] for _ in range(3)]
    return [first, len(runs)]
