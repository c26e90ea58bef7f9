"""merge_call sees per-replica arguments; a plain result goes to everyone."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    seen = []

    def merge_fn(strategy, x, scale):
        seen.append(
            [
                strategy is s,
                tf.distribute.in_cross_replica_context(),
                tf.distribute.get_replica_context() is None,
                local(s, x),
            ]
        )
        return strategy.reduce("SUM", x, axis=None) * scale

    def fn():
        ctx = tf.distribute.get_replica_context()
        return (
            ctx.merge_call(
                merge_fn, args=(ctx.replica_id_in_sync_group + 1,), kwargs={"scale": 10}
            )
            + 1
        )

    return [local(s, s.run(fn)), seen]
