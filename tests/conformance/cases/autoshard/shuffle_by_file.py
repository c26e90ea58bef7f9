"""FILE with shuffle after the reader: a worker sees only its own file."""

from conformance.kit import steps, text_files

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = text_files("abcd", "efgh")
    d = tf.data.TextLineDataset(files).shuffle(8).batch(4)
    got = steps(s, s.experimental_distribute_dataset(d))
    return [len(got), sorted(v for step in got for r in step for v in r)]
