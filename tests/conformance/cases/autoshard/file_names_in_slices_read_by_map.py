"""from_tensor_slices(names).flat_map(reader) is sharded by name."""

from conformance.kit import steps, text_files

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = text_files("abcd", "efgh")
    d = (
        tf.data.Dataset.from_tensor_slices(files)
        .flat_map(lambda f: tf.data.TextLineDataset(f))
        .batch(4)
    )
    return steps(s, s.experimental_distribute_dataset(d))
