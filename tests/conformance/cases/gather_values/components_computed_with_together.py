"""Components of per-replica values, and copies of variables, in one computation."""

from conformance.kit import pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    parts = s.experimental_local_results
    with s.scope():
        w = tf.Variable([1.0, 2.0])

    @tf.function
    def doubled(x):
        return s.run(lambda v: v * 2, args=(x,))

    out = []
    data = tf.data.Dataset.range(8).batch(5)
    for x in s.experimental_distribute_dataset(data):
        sums = s.run(tf.reduce_sum, args=(x,))
        out.append(
            [
                pull(tf.concat(parts(x), axis=0)),
                pull(tf.concat(parts(doubled(x)), axis=0)),
                pull(tf.stack(sums.values)),
                pull(tf.add_n(parts(sums))),
                pull(parts(sums)[0] + parts(sums)[2]),
                pull(s.reduce("SUM", sums, axis=None) - parts(sums)[1]),
                pull(tf.reduce_sum([tf.reduce_sum(v) for v in parts(x)])),
            ]
        )
    return [*out, pull(tf.stack(parts(w))), pull(w + parts(w)[2])]
