"""Python values reach fn as they are."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    seen = []

    def fn(n, flag, name, nothing):
        seen.append([type(n).__name__, type(flag).__name__, name, nothing])
        return tf.constant(n)

    s.run(fn, args=(3, True, "x", None))
    return seen
