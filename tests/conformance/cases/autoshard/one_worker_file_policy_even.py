"""One worker, FILE policy, nothing partial: the plain split."""

from conformance.kit import policy, steps, text_files

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    files = text_files("abcd", "efgh")
    d = policy(tf, tf.data.TextLineDataset(files).batch(4), "FILE")
    return steps(s, s.experimental_distribute_dataset(d))
