"""FILE: each worker reads its own file, half the global batch at a time."""

from conformance.kit import policy, record_files, steps

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = record_files(tf, range(8), range(8, 16))
    d = policy(tf, tf.data.TFRecordDataset(files).batch(4), "FILE")
    return steps(s, s.experimental_distribute_dataset(d))
