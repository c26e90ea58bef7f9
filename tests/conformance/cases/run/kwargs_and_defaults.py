"""args and kwargs together: per-replica, mirrored, defaults, star arguments."""

from conformance.kit import local

REPLICAS = 4


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(100.0)
    x = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant(float(ctx.replica_id_in_sync_group))
    )

    def fn(a, *rest, scale=1.0, bias=None, **more):
        total = a * scale
        for r in rest:
            total = total + r
        if bias is not None:
            total = total + bias
        return total + sum(more.values())

    def call():
        return [
            s.run(fn, args=(x,)),
            s.run(fn, args=(x, 1.0, x), kwargs={"scale": 2.0}),
            s.run(fn, (x, v), {"bias": v, "extra": x}),
        ]

    compiled = tf.function(call)
    return [local(s, call()), local(s, compiled())]
