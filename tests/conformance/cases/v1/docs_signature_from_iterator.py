"""Docs: iterator.element_spec as input_signature, next(iterator) per step."""

from conformance.kit import local

REPLICAS = 2
API = "v1"


def case(tf):
    s = tf.distribute.MirroredStrategy()
    inputs = s.experimental_distribute_datasets_from_function(
        lambda ctx: tf.data.Dataset.range(12).batch(ctx.get_per_replica_batch_size(4))
    )
    iterator = iter(inputs)

    @tf.function(input_signature=[iterator.element_spec])
    def step(x):
        return s.run(lambda v: tf.reduce_sum(v), args=(x,))

    return [local(s, step(next(iterator))) for _ in range(3)]
