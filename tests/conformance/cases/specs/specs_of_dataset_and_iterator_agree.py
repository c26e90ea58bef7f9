"""The dataset's and its iterators' element_spec are equal."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.experimental_distribute_dataset(tf.data.Dataset.range(7).batch(4))
    return [
        dist.element_spec == iter(dist).element_spec,
        isinstance(dist.element_spec, tf.TypeSpec),
    ]
