"""OneDeviceStrategy: nests, gather, merge_call and nested runs."""

from conformance.kit import attempt, pull

REPLICAS = 1


def case(tf):
    s = tf.distribute.OneDeviceStrategy("/cpu:0")
    x = s.experimental_distribute_values_from_function(
        lambda ctx: {"a": tf.constant([1.0, 2.0]), "n": ctx.num_replicas_in_sync}
    )

    def fn(x):
        ctx = tf.distribute.get_replica_context()
        y = ctx.merge_call(
            lambda st, v: st.reduce("SUM", v, axis=None) * 2.0, args=(x["a"],)
        )
        return ctx.all_gather(y, axis=0), ctx.all_reduce("MEAN", x["a"])

    return [
        pull(s.run(fn, args=(x,))),
        pull(tf.function(lambda: s.run(fn, args=(x,)))()),
        pull(s.gather(x["a"], axis=0)),
        pull(s.reduce("SUM", x["a"], axis=0)),
        attempt(lambda: s.run(lambda: s.run(lambda: tf.constant(1)))),
        isinstance(x["a"], tf.distribute.DistributedValues),
    ]
