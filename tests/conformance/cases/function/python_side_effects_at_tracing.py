"""Python code runs at tracing only; variables change at every call."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    v = tf.Variable(0)
    log = []

    @tf.function
    def f(x):
        log.append("traced")
        v.assign_add(x)
        return v + 0

    return [pull(f(tf.constant(1))), pull(f(tf.constant(5))), pull(v), len(log)]
