"""A mirrored variable given as an argument is usable in fn."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(3.0)

    def fn(var, x):
        return var * x

    x = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant(float(ctx.replica_id_in_sync_group + 1))
    )
    return local(s, s.run(fn, args=(v, x)))
