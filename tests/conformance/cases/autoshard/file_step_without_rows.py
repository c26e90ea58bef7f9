"""FILE: where the slices of no worker have rows there is no step."""

from conformance.kit import steps, text_files

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = text_files("abc", "defg", "hi", "jklmn")
    d = tf.data.TextLineDataset(files).batch(4)
    return steps(s, s.experimental_distribute_dataset(d))
