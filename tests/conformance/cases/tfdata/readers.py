"""TextLine, TFRecord and FixedLengthRecord datasets over several files."""

import os

from conformance.kit import pull, record_files, text_files

REPLICAS = 2


def case(tf):
    text = text_files(["a", "b c"], [], ["", "d"])
    recs = record_files(tf, [1, 2], [3])
    with open("x.bin", "wb") as f:
        f.write(b"HHaabbccF")
    path = os.path.join(os.getcwd(), "x.bin")
    fixed = tf.data.FixedLengthRecordDataset([path], 2, header_bytes=2, footer_bytes=1)
    return [
        [pull(x) for x in tf.data.TextLineDataset(text)],
        [pull(x) for x in tf.data.TFRecordDataset(recs)],
        [pull(x) for x in tf.data.TFRecordDataset(recs[0])],
        [pull(x) for x in fixed],
    ]
