"""Strings that functions of datasets compare, join, split, and make numbers of."""

from conformance.kit import pull, text_files

REPLICAS = 1


def case(tf):
    dataset = tf.data.Dataset
    (path,) = text_files(["1,a", "2,b", "3,c"])

    def parse(line):
        number, name = tf.strings.split(line, ",")[0], tf.strings.split(line, ",")[1]
        return {"x": tf.strings.to_number(number), "y": name}

    rows = tf.data.TextLineDataset(path).map(parse)
    letters = dataset.from_tensor_slices(["a", "b", "a"])
    return [
        [pull(x) for x in rows.batch(2)],
        {k: v.dtype.name for k, v in rows.element_spec.items()},
        [pull(x) for x in rows.filter(lambda e: e["y"] != "b")],
        [pull(x) for x in letters.batch(3).map(lambda x: x == "a")],
        [pull(x) for x in letters.batch(2).filter(lambda x: tf.reduce_all(x != "b"))],
        [pull(x) for x in letters.map(lambda x: tf.strings.upper(x) + "!")],
        [
            pull(x)
            for x in letters.enumerate().map(
                lambda i, x: tf.strings.join([tf.strings.as_string(i), x], "-")
            )
        ],
        [pull(x) for x in letters.map(tf.strings.length)],
        [
            pull(x)
            for x in letters.map(
                lambda x: tf.py_function(lambda v: v.numpy() + b"?", [x], tf.string)
            )
        ],
        [x.numpy().decode() for x in letters],
        [bool(x == "a") for x in letters],
        [x.numpy().tolist() for x in letters.batch(2)],
        [x.dtype == tf.string for x in letters.take(1)],
        [x.dtype.name for x in letters.take(1)],
    ]
