"""DATA: take() counts over the whole dataset, before the shards."""

from conformance.kit import policy, steps, text_files

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = text_files("abcdef", "ghijkl")
    d = policy(tf, tf.data.TextLineDataset(files).take(8).batch(4), "DATA")
    return steps(s, s.experimental_distribute_dataset(d))
