"""Patterns of files in several, raw numbers, lines of values, whole files."""

from pathlib import Path

from conformance.kit import attempt, pull, text_files

REPLICAS = 1


def case(tf):
    files = text_files(["1,2.5,x", "3,,y"], ["b"])
    Path("x.bin").write_bytes(b"aabb")
    here = str(Path.cwd())
    dataset = tf.data.Dataset
    names = dataset.list_files([f"{here}/part-1*", f"{here}/part-0*"], shuffle=False)
    fixed = tf.data.FixedLengthRecordDataset("x.bin", 2)
    lines = tf.data.TextLineDataset(files[0])
    return [
        [Path(pull(x)).name for x in names],
        [pull(x) for x in fixed.map(lambda r: tf.io.decode_raw(r, tf.uint8))],
        [
            pull(x)
            for x in lines.map(lambda r: tf.io.decode_csv(r, [[0], [-1.0], [""]]))
        ],
        pull(tf.io.decode_csv(["1;a", "2;b"], [[0], [""]], field_delim=";")),
        attempt(lambda: tf.io.decode_csv("1,2", [[0]])),
        [pull(x) for x in dataset.from_tensors(files[1]).map(tf.io.read_file)],
        attempt(lambda: list(tf.data.TextLineDataset(files, compression_type="X"))),
    ]
