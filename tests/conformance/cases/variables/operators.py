"""Variables in expressions: operators with numbers, tensors and each other."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable([1.0, 2.0, 4.0])
        w = tf.Variable(3.0)
        m = tf.Variable([[1.0, 0.0, 1.0]])

    def all_of_them():
        return [
            v + 1.0,
            1.0 - v,
            v * w,
            v / w,
            -v,
            v**2.0,
            v[1:],
            v[0],
            tf.matmul(m, tf.reshape(v, [3, 1])),
            tf.reduce_sum(v),
            tf.stack([w, w]),
            tf.abs(v - 2.0),
            v > 1.5,
            tf.where(v > 1.5, v, 0.0),
            tf.concat([v, v], axis=0),
            tf.square(w),
        ]

    compiled = tf.function(all_of_them)
    return [
        pull(all_of_them()),
        pull(compiled()),
        local(s, s.run(lambda: all_of_them()[3])),
    ]
