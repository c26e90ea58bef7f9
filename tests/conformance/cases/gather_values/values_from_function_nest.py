"""experimental_distribute_values_from_function may return a nest."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    seen = []

    def value(ctx):
        seen.append([ctx.replica_id_in_sync_group, ctx.num_replicas_in_sync])
        i = ctx.replica_id_in_sync_group
        return {
            "x": tf.constant([i, i + 1]),
            "y": (tf.constant(float(i)), tf.zeros([1])),
        }

    v = s.experimental_distribute_values_from_function(value)
    r = s.run(lambda v: tf.cast(v["x"], tf.float32) + v["y"][0] + v["y"][1], args=(v,))
    return [
        seen,
        sorted(v),
        local(s, v["x"]),
        local(s, v["y"][0]),
        local(s, r),
        pull(s.reduce("SUM", v["x"], axis=0)),
    ]
