"""FILE sharding reaches the reader through map, filter, and cache."""

from conformance.kit import steps, text_files

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = text_files("aabbccddzz", "eeffgghh")
    d = tf.data.TextLineDataset(files)
    d = d.map(lambda x: x + x).filter(lambda x: x != "aa").cache().batch(4)
    return steps(s, s.experimental_distribute_dataset(d))
