"""Guide: step_fn doubles the tuple (2 * inputs repeats it, as in Python)."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dataset = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(100).batch(16)
    dist = s.experimental_distribute_dataset(dataset)

    @tf.function(input_signature=[dist.element_spec])
    def train_step(per_replica_inputs):
        def step_fn(inputs):
            return 2 * inputs

        return s.run(step_fn, args=(per_replica_inputs,))

    output = train_step(next(iter(dist)))
    return [len(output), [len(local(s, x)) for x in output], local(s, output[3])[0][0]]
