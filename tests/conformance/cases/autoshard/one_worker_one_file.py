"""One worker never lacks files; its replicas split each batch."""

from conformance.kit import record_files, steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    files = record_files(tf, range(8))
    d = tf.data.TFRecordDataset(files).batch(4)
    return steps(s, s.experimental_distribute_dataset(d))
