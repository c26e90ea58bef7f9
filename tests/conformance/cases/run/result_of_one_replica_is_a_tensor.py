"""With a single replica a returned tensor is just a tensor."""

from conformance.kit import pull

REPLICAS = 1


def case(tf):
    s = tf.distribute.MirroredStrategy()
    r = s.run(lambda x: x + 1, args=(tf.constant(1),))
    return [isinstance(r, tf.distribute.DistributedValues), pull(r)]
