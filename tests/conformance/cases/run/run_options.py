"""run takes RunOptions; on these strategies they change nothing."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    o = tf.distribute.RunOptions()
    r = s.run(lambda x: x + 1, args=(tf.constant(1),), options=o)
    return [
        local(s, r),
        o.experimental_enable_dynamic_batch_size,
        o.experimental_bucketizing_dynamic_shape,
    ]
