"""An odd number of files: worker 0 has one more."""

from conformance.kit import steps, text_files

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = text_files("ab", "cd", "ef", "gh", "ijkl")
    d = tf.data.TextLineDataset(files).batch(4)
    return steps(s, s.experimental_distribute_dataset(d))
