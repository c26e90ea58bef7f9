"""merge_call on workers: numbers stay numbers, tensors are per replica."""

from conformance.kit import local

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    seen = []

    def merge(strategy, x, k=1):
        seen.append([strategy is s, tf.distribute.in_cross_replica_context(), k])
        return {
            "sum": strategy.reduce("SUM", x, axis=None),
            "mean": strategy.reduce("MEAN", x, axis=None),
        }

    def fn():
        ctx = tf.distribute.get_replica_context()
        x = tf.cast(ctx.replica_id_in_sync_group, tf.float32) + 1.0
        r = ctx.merge_call(merge, args=(x,), kwargs={"k": 3})
        return r["sum"] * 1.0, r["mean"] * 1.0

    return [local(s, s.run(fn)), seen, local(s, s.run(lambda: 7))]
