"""An element-wise map after batch does not change the split."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(7).batch(4).map(lambda x: x * 10)
    return steps(s, s.experimental_distribute_dataset(d))
