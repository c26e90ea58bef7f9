"""The same two files under AUTO."""

from conformance.kit import record_files, steps

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = record_files(tf, range(6), range(6, 12))
    d = tf.data.TFRecordDataset(files).batch(4).map(lambda x: x)
    return steps(s, s.experimental_distribute_dataset(d))
