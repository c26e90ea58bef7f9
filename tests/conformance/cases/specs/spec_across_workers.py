"""On several workers the batch dimension of the spec is open."""

from conformance.kit import local

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    d = tf.data.Dataset.range(8).batch(4, drop_remainder=True)
    dist = s.experimental_distribute_dataset(d)

    @tf.function(input_signature=[dist.element_spec])
    def fn(x):
        return s.run(lambda v: v * 2, args=(x,))

    return [local(s, fn(x)) for x in dist]
