"""What a function returns: nests, None, strings, numbers, variables' values."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign_add(1.0)
        return {"a": (x, [None, x + 1]), "v": v.read_value(), "e": (), "l": []}

    @tf.function
    def nothing(x):
        v.assign_add(x)

    r = f(tf.constant(1))
    return [
        pull(r["a"][0]),
        r["a"][1][0],
        pull(r["a"][1][1]),
        pull(r["v"]),
        list(r["e"]),
        list(r["l"]),
        nothing(tf.constant(1.0)),
        pull(v),
    ]
