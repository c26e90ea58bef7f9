"""Numbers that the variable's dtype does not hold are TypeErrors."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = {}
    for name in ("float32", "int32", "int64", "bool"):
        with s.scope():
            v = tf.Variable(tf.cast(0, getattr(tf, name)))
            w = tf.Variable(tf.cast([0, 0], getattr(tf, name)))
        for x in (1, 2.5, True, "a"):
            out[f"{name} {x!r}"] = attempt(lambda v=v, x=x: v.assign(x))
        for x in ([1, 1], [1.5, 0.5], [True, False]):
            out[f"{name} {x!r}"] = attempt(lambda w=w, x=x: w.assign(x))
    return out
