"""FILE: both readers under a zip are sharded."""

from conformance.kit import steps, text_files

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = text_files("abcd", "efgh", "ABCD", "EFGH")
    d = tf.data.Dataset.zip(
        (tf.data.TextLineDataset(files[:2]), tf.data.TextLineDataset(files[2:]))
    ).batch(4)
    return steps(s, s.experimental_distribute_dataset(d))
