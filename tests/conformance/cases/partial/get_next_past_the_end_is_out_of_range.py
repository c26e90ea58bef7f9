"""get_next() past the end raises OutOfRangeError."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    it = iter(s.experimental_distribute_dataset(tf.data.Dataset.range(3).batch(2)))
    out = [local(s, it.get_next()), local(s, it.get_next())]
    out += [attempt(it.get_next), attempt(it.get_next)]
    try:
        it.get_next()
    except tf.errors.OutOfRangeError:
        out.append("caught as tf.errors.OutOfRangeError")
    return out
