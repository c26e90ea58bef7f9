"""A file on one worker with a map after batch: the partial batch is split."""

from conformance.kit import record_files, steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.TFRecordDataset(record_files(tf, range(6))).batch(4).map(lambda x: x)
    return steps(s, s.experimental_distribute_dataset(d))
