"""Options: their defaults, what survives and merges, values of other types."""

from conformance.kit import attempt

REPLICAS = 1


def case(tf):
    policies = tf.data.experimental.AutoShardPolicy
    threads, off = tf.data.Options(), tf.data.Options()
    threads.threading.private_threadpool_size = 3
    threads.deterministic = True
    off.experimental_distribute.auto_shard_policy = policies.OFF

    def put(name, value):
        return attempt(lambda: setattr(tf.data.Options(), name, value))

    d = tf.data.Dataset.range(2).with_options(threads).map(lambda x: x).batch(2)
    both = d.with_options(off).options()
    default = tf.data.Options()
    return [
        [d.options().threading.private_threadpool_size, d.options().deterministic],
        [both.threading.private_threadpool_size, both.deterministic],
        both.experimental_distribute.auto_shard_policy.name,
        threads.merge(off).experimental_distribute.auto_shard_policy.name,
        [default.deterministic, default.autotune.enabled, default.experimental_slack],
        [put("deterministic", "yes"), put("experimental_distribute", 2)],
        [put("nonsense", 1), put("deterministic", False)],
        [[p.name, p.value] for p in policies],
    ]
