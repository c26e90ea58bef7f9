"""A compiled training step with per-replica data of unequal size."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        w = tf.Variable([0.0, 0.0])
        steps = tf.Variable(0, dtype=tf.int64, trainable=False)
        seen = tf.Variable(
            0,
            dtype=tf.int64,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    rows = [3, 1]
    x = s.experimental_distribute_values_from_function(
        lambda ctx: (
            tf.ones([rows[ctx.replica_id_in_sync_group], 2])
            * (ctx.replica_id_in_sync_group + 1.0)
        )
    )

    @tf.function
    def train(x):
        def fn(x):
            ctx = tf.distribute.get_replica_context()
            error = tf.reduce_sum(x * w, axis=1) - 1.0
            g = tf.reduce_sum(2.0 * tf.expand_dims(error, 1) * x, axis=0) / 4.0
            g = ctx.all_reduce("SUM", g)
            w.assign_sub(0.1 * g)
            seen.assign_add(tf.size(error, out_type=tf.int64))
            return tf.reduce_sum(error * error)

        losses = s.run(fn, args=(x,))
        steps.assign_add(1)
        return s.reduce("SUM", losses, axis=None) / 4.0

    out = [pull(train(x)) for _ in range(3)]
    return [out, pull(w), local(s, w), pull(steps), pull(seen), local(s, seen)]
