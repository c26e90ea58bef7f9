"""merge_fn gets one tensor that all replicas give as it is, others per replica."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    seen = []

    def merge(strategy, same, other, number):
        kind = tf.distribute.DistributedValues
        seen.append([isinstance(x, kind) for x in (same, other, number)])
        return same

    def fn(x):
        ctx = tf.distribute.get_replica_context()
        return ctx.merge_call(merge, args=(x, x + 0.0, 5))

    return [local(s, s.run(fn, args=(tf.constant([2.0]),))), seen]
