"""tf.device, and other blocks and operations that say where and when."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with tf.device("/cpu:1"):
        x = tf.constant([1.0]) + 1.0
        v = tf.Variable(2.0)
    with s.scope(), tf.device("/cpu:0"):
        w = tf.Variable(1.0)

    @tf.function
    def step():
        with tf.control_dependencies([v.assign_add(1.0)]), tf.device(None):
            y = tf.identity(v)
        return y[tf.newaxis], tf.inside_function()

    y, inside = step()
    return [pull(x), local(s, w), pull(y), bool(inside), tf.group(y), tf.no_op()]
