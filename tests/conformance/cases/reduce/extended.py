"""reduce_to, batch_reduce_to and broadcast_to of strategy.extended."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant([1.0, 2.0]) * (ctx.replica_id_in_sync_group + 1.0)
    )
    with s.scope():
        a = s.extended.reduce_to("SUM", x, destinations=x)
        b, c = s.extended.batch_reduce_to("MEAN", [(x, x), (x, x)])
        d = s.extended.broadcast_to(tf.constant(5.0), destinations=x)
    return [
        local(s, a),
        local(s, b),
        local(s, c),
        local(s, d),
        pull(tf.identity(a)),
        len(s.extended.worker_devices),
    ]
