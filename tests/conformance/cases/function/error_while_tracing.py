"""An exception in a traced function keeps its class; the function works later."""

from conformance.kit import attempt, pull

REPLICAS = 2


def case(tf):
    fail = [True]
    v = tf.Variable(0)

    @tf.function
    def f(x):
        v.assign_add(x)
        if fail:
            raise ValueError("not yet")
        return x + 1

    first = attempt(lambda: f(tf.constant(1)))
    kept = pull(v)
    fail.clear()
    return [first, kept, pull(f(tf.constant(1))), pull(v)]
