"""FILE: files that are read by turns, and the last step has rows on one worker."""

from conformance.kit import steps, text_files

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    names = text_files("abc", "defg", "hi", "jklmn")
    lines = tf.data.Dataset.from_tensor_slices(names).interleave(
        tf.data.TextLineDataset, cycle_length=2
    )
    return steps(s, s.experimental_distribute_dataset(lines.batch(2)))
