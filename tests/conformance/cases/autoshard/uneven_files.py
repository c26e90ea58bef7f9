"""FILE: a worker whose file ends first goes on with empty batches."""

from conformance.kit import steps, text_files

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = text_files("abcdefgh", "wxyz")
    d = tf.data.TextLineDataset(files).batch(4)
    return steps(s, s.experimental_distribute_dataset(d))
