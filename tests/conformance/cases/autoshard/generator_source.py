"""A generator is no file source: sharded by data."""

from conformance.kit import steps

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    d = tf.data.Dataset.from_generator(
        lambda: iter(range(8)), output_signature=tf.TensorSpec([], tf.int32)
    )
    return steps(s, s.experimental_distribute_dataset(d.batch(4)))
