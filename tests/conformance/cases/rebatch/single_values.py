"""Elements that are, or hold, single values cannot be split over replicas."""

from conformance.kit import attempt, steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(4)
    made = [
        d,
        d.batch(2).unbatch(),
        d.batch(2).enumerate(),
        d.batch(2).map(tf.reduce_sum),
        d.batch(2).map(lambda x: (x, tf.size(x))),
    ]
    return [
        attempt(lambda d=d: steps(s, s.experimental_distribute_dataset(d)))
        for d in made
    ]
