"""make_dataset_iterator splits global batches; initialize() comes first."""

from conformance.kit import local

REPLICAS = 2
API = "v1"


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        it = s.make_dataset_iterator(tf.data.Dataset.range(8).batch(4))
        it.initialize()
        return [local(s, it.get_next()), local(s, it.get_next())]
