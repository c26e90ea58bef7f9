"""Docs: the same code runs under OneDevice and Mirrored with one result."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    def train(s):
        with s.scope():
            w = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
        dist = s.experimental_distribute_dataset(
            tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).batch(4)
        )

        @tf.function
        def step(x):
            s.run(lambda v: w.assign_add(tf.reduce_sum(v)), args=(x,))

        for x in dist:
            step(x)
        return pull(w)

    return [
        train(tf.distribute.OneDeviceStrategy("/cpu:0")),
        train(tf.distribute.MirroredStrategy()),
        train(tf.distribute.MirroredStrategy(["/cpu:0"])),
    ]
