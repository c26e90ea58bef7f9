"""Eagerly, fn is called once per replica on every step."""

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    calls = []

    def fn():
        calls.append(1)
        return tf.constant(0)

    for _ in range(2):
        s.run(fn)
    return len(calls)
