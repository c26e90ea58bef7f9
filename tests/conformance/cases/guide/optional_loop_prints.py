"""Guide: the get_next_as_optional loop, tf.print included."""

from conformance.kit import pull

REPLICAS = 4


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dataset = tf.data.Dataset.range(9).batch(4)
    it = iter(s.experimental_distribute_dataset(dataset))
    with s.scope():
        steps_done = tf.Variable(0)

    @tf.function
    def train_fn(iterator):
        for _ in tf.range(5):
            optional_data = iterator.get_next_as_optional()
            if not optional_data.has_value():
                break
            r = s.run(lambda x: x, args=(optional_data.get_value(),))
            tf.print(s.experimental_local_results(r))
            steps_done.assign_add(1)

    train_fn(it)
    return pull(steps_done)
