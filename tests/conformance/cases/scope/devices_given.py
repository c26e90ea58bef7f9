"""MirroredStrategy(devices): as many replicas as devices named."""

REPLICAS = 2


def case(tf):
    one = tf.distribute.MirroredStrategy(["/cpu:1"])
    two = tf.distribute.MirroredStrategy(devices=["CPU:0", "CPU:1"])
    return [one.num_replicas_in_sync, two.num_replicas_in_sync]
