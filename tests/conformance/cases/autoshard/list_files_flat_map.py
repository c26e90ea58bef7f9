"""list_files(shuffle=False).flat_map(reader) shards the list of files."""

import os

from conformance.kit import record_files, steps

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    record_files(tf, range(4), range(10, 14), range(20, 24), range(30, 34))
    d = tf.data.Dataset.list_files(
        os.path.join(os.getcwd(), "part-*.tfrecord"), shuffle=False
    )
    d = d.flat_map(tf.data.TFRecordDataset).batch(4)
    return steps(s, s.experimental_distribute_dataset(d))
