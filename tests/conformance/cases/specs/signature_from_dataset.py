"""Guide: DistributedDataset.element_spec as an input_signature."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(100).batch(16)
    dist = s.experimental_distribute_dataset(d)
    traces = []

    @tf.function(input_signature=[dist.element_spec])
    def train_step(inputs):
        traces.append(1)

        def step_fn(x):
            return 2 * x[0], 2 * x[1]

        return s.run(step_fn, args=(inputs,))

    out = []
    for _ in range(2):
        it = iter(dist)
        for _ in range(7):
            a, b = train_step(next(it))
            out.append([[len(v) for v in local(s, a)], local(s, b)[0][0]])
    return [out, len(traces)]
