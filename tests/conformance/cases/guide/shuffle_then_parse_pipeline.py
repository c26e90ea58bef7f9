"""Guide: list_files, repeat, shuffle, interleave, map before distribution."""

import os

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    for i in range(3):
        with tf.io.TFRecordWriter(os.path.join(os.getcwd(), "f-%d" % i)) as w:
            for j in range(4):
                w.write(b"%d" % (10 * i + j))
    d = tf.data.Dataset.list_files(os.path.join(os.getcwd(), "f-*"), shuffle=False)
    d = d.repeat(2)
    d = d.shuffle(6)
    d = d.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=1)
    d = d.map(lambda r: r, num_parallel_calls=2)
    got = [
        v
        for step in steps(s, s.experimental_distribute_dataset(d.batch(8)))
        for r in step
        for v in r
    ]
    return sorted(got)
