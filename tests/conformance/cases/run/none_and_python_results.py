"""Steps that return nothing, or Python values, eagerly."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    r = s.run(lambda: (None, "x", 3, True))
    return [s.run(lambda: None), list(r), list(s.experimental_local_results(None))]
