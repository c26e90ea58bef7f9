"""What map makes of numbers of Python, of lists, and of computed values."""

from conformance.kit import pull

REPLICAS = 1


def case(tf):
    d = tf.data.Dataset.range(3)

    def show(spec):
        if isinstance(spec, tuple):
            return [show(s) for s in spec]
        if isinstance(spec, dict):
            return {k: show(s) for k, s in spec.items()}
        return [spec.shape.as_list(), spec.dtype.name]

    functions = [
        lambda x: 7,
        lambda x: 1.5,
        lambda x: "a",
        lambda x: [x, x + 1],
        lambda x: (x, [1, 2]),
        lambda x: {"a": x / 2, "b": tf.cast(x, tf.float32) * 2},
        lambda x: x > 1,
        lambda x: tf.one_hot(x, 3),
    ]
    return [
        [show(d.map(f).element_spec), [pull(x) for x in d.map(f)]] for f in functions
    ]
