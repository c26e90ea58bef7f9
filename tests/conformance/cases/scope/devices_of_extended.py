"""The names of devices in strategy.extended; what is reduced to one of them."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    one = tf.distribute.OneDeviceStrategy("/cpu:1")
    x = s.run(lambda: tf.constant([1.0, 2.0]))
    with s.scope():
        v = tf.Variable(1.0)
        name = s.extended.worker_devices[0]
        reduced = s.extended.reduce_to("SUM", x, destinations=name)
        add = tf.constant(2.0)
        parts = s.extended.update(
            v, lambda u, y: u.assign_add(y), args=(add,), group=False
        )
    with one.scope():
        alone = one.extended.reduce_to("MEAN", tf.constant(3.0), destinations="/cpu:1")
    return [
        list(s.extended.worker_devices),
        list(s.extended.parameter_devices),
        list(one.extended.worker_devices),
        pull(reduced),
        len(parts),
        local(s, v),
        pull(alone),
        s.extended.experimental_require_static_shapes,
        s.extended.experimental_between_graph,
        s.extended.should_checkpoint,
    ]
