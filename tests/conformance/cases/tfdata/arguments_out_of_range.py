"""Sizes and counts that are 0, negative, or arrays."""

from conformance.kit import attempt, pull

REPLICAS = 1


def case(tf):
    d = tf.data.Dataset.range(5)
    two = tf.constant(2, tf.int64)
    made = [
        lambda: d.batch(0),
        lambda: d.batch(two),
        lambda: d.take(two),
        lambda: d.take(-2),
        lambda: d.skip(-2),
        lambda: d.repeat(-3).take(7),
        lambda: d.shard(0, 0),
        lambda: d.shard(3, -1),
        lambda: d.shuffle(0),
        lambda: d.prefetch(-5),
        lambda: d.window(0),
        lambda: d.window(2, shift=0),
        lambda: d.interleave(tf.data.Dataset.from_tensors, cycle_length=0),
        lambda: tf.data.Dataset.range(0, 5, 0),
        lambda: tf.data.Dataset.range(),
        lambda: tf.data.Dataset.list_files("no-such-file-*"),
    ]
    answers = [attempt(lambda f=f: [pull(x) for x in f()]) for f in made]
    return [
        *answers,
        attempt(d.get_single_element),
        attempt(d.take(0).get_single_element),
    ]
