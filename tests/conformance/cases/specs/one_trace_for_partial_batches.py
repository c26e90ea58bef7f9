"""With the element_spec as signature, partial batches do not retrace."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.experimental_distribute_dataset(tf.data.Dataset.range(7).batch(4))
    traces = []

    @tf.function(input_signature=[dist.element_spec])
    def fn(x):
        traces.append(1)
        return s.run(lambda v: tf.reduce_sum(v), args=(x,))

    return [[local(s, fn(x)) for x in dist], len(traces)]
