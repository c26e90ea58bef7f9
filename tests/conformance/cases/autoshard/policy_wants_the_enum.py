"""auto_shard_policy takes an AutoShardPolicy, not a string."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    o = tf.data.Options()

    def put(v):
        o.experimental_distribute.auto_shard_policy = v

    return attempt(lambda: put("OFF"))
