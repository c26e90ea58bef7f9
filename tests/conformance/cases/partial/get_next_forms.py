"""get_next with a name, errors at the end, and iterators in functions."""

from conformance.kit import attempt, local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(4))
    iterator = iter(dist)
    out = [local(s, iterator.get_next(name="x")), local(s, next(iterator))]
    out += [attempt(lambda: next(iterator)), attempt(iterator.get_next)]
    out += [attempt(iterator.get_next_as_optional().get_value)]
    try:
        iterator.get_next()
    except tf.errors.OpError as error:
        out.append([type(error).__name__, isinstance(error.message, str)])

    @tf.function
    def total(it):
        found = tf.constant(0, tf.int64)
        for x in it:
            found += s.reduce("SUM", x, axis=0)
        return found

    again = iter(dist)
    return [*out, pull(total(again)), pull(total(again)), pull(total(iter(dist)))]
