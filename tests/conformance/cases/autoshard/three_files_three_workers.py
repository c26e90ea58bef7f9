"""3 files over 3 workers, global batch 6."""

from conformance.kit import record_files, steps

REPLICAS = 1
WORKERS = 3


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = record_files(tf, range(6), range(10, 16), range(20, 26))
    d = tf.data.TFRecordDataset(files).batch(6)
    return steps(s, s.experimental_distribute_dataset(d))
