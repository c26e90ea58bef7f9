"""Equal Python objects on all replicas come back as one; others per replica."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    calls = []

    def different():
        calls.append(0)
        return 1000 + len(calls)

    same = s.run(lambda: 7)
    return [
        same,
        list(s.experimental_local_results(same)),
        list(s.experimental_local_results(s.run(different))),
    ]
