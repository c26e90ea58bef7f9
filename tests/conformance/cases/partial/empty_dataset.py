"""A dataset with nothing in it: no steps, and the end at once."""

from conformance.kit import attempt, steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.experimental_distribute_dataset(tf.data.Dataset.range(0).batch(4))
    it = iter(dist)
    return [
        steps(s, dist),
        attempt(it.get_next),
        bool(iter(dist).get_next_as_optional().has_value()),
    ]
