"""A dataset that a filter empties ends at once."""

from conformance.kit import attempt, steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(5).filter(lambda x: x > 10).batch(2)
    dist = s.experimental_distribute_dataset(d)
    return [steps(s, dist), attempt(iter(dist).get_next)]
