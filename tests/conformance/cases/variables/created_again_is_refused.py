"""A function that creates a variable at every call: ValueError."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    @tf.function
    def f(x):
        return tf.Variable(1.0) + x

    return attempt(lambda: f(tf.constant(1.0)))
