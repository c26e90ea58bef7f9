"""Strings in replica functions: compared, joined, counted, passed on."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.from_tensor_slices((["a", "b", "c"], [1, 2, 3])).batch(2)
    out = []
    for x, y in s.experimental_distribute_dataset(d):
        functions = [
            lambda a, b: a,
            lambda a, b: b * 2,
            lambda a, b: tf.size(a),
            lambda a, b: a == "a",
            lambda a, b: a + "!",
            lambda a, b: tf.strings.upper(a),
        ]
        out.append([local(s, s.run(f, args=(x, y))) for f in functions])
        out.append([v.numpy().tolist() for v in s.experimental_local_results(x)])
        out.append([v.dtype == tf.string for v in x.values])
    return out
