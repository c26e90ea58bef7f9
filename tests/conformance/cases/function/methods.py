"""A method as a tf.function: each object has its own state."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    class Counter:
        def __init__(self, start):
            self.v = tf.Variable(start)

        @tf.function
        def add(self, x, *, times=1):
            self.v.assign_add(x * times)
            return self.v.read_value()

    a, b = Counter(0), Counter(100)
    return [
        pull(a.add(tf.constant(1))),
        pull(b.add(tf.constant(1), times=3)),
        pull(a.add(tf.constant(1))),
        pull(a.v),
        pull(b.v),
    ]
