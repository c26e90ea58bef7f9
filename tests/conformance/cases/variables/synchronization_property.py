"""What a variable says of its synchronization, where there are copies and not."""

REPLICAS = 2


def case(tf):
    sync = tf.VariableSynchronization
    out = []
    for s in (
        tf.distribute.MirroredStrategy(),
        tf.distribute.OneDeviceStrategy("/cpu:0"),
        tf.distribute.get_strategy(),
    ):
        with s.scope():
            for which in (sync.AUTO, sync.ON_WRITE, sync.ON_READ):
                v = tf.Variable(1.0, synchronization=which)
                out.append([v.synchronization.name, v.aggregation.name, v.trainable])
    return [*out, tf.is_tensor(v)]
