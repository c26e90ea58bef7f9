"""Traced again for other shapes, dtypes, structures and Python values only."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    traced = []

    @tf.function
    def f(x, k=1, flag=True, name="a"):
        traced.append(1)
        return x["v"] * k if flag else x["v"]

    one, two = tf.constant([1.0]), tf.constant([1.0, 2.0])
    counts = []
    for args in (
        ({"v": one},),
        ({"v": one + 1.0},),
        ({"v": two},),
        ({"v": one}, 2),
        ({"v": two},),
        ({"v": one}, 2),
        ({"v": one}, 2, False),
        ({"v": tf.constant([1])},),
        ({"v": one}, 1, True, "b"),
    ):
        last = f(*args)
        counts.append(len(traced))
    return [counts, pull(last)]
