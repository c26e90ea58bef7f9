"""tf.function: nested calls; dict and tuple arguments and results."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    @tf.function
    def inner(d):
        return {"s": d["a"] + d["b"][0], "none": None}

    @tf.function
    def outer(d):
        r = inner(d)
        return (r["s"] * 2, [r["s"], r["none"]])

    a, (b, c) = outer({"a": tf.constant(1), "b": (tf.constant(2), tf.constant(9))})
    return [pull(a), pull(b), c]
