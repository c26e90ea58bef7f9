"""FILE with repeat: each worker repeats its own file."""

from conformance.kit import steps, text_files

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = text_files("abcd", "efgh")
    d = tf.data.TextLineDataset(files).repeat(2).batch(4)
    return steps(s, s.experimental_distribute_dataset(d))
