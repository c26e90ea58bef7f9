"""get_strategy & co. outside, in scope, in run, and in merge_call."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    D = tf.distribute

    def where():
        return [
            D.has_strategy(),
            D.get_strategy() is s,
            D.in_cross_replica_context(),
            D.get_replica_context() is None,
        ]

    out = {"outside": where()}
    with s.scope():
        out["scope"] = where()
    seen = []

    def fn():
        seen.append(where())
        D.get_replica_context().merge_call(lambda strategy: seen.append(where()))
        return tf.constant(0)

    s.run(fn)
    out["run and merge"] = sorted(seen)
    out["after"] = where()
    return out
