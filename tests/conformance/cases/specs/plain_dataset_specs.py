"""element_spec of plain datasets: batch, drop_remainder, map, zip, dict."""

REPLICAS = 2


def case(tf):
    r = tf.data.Dataset.range(7)

    def show(spec):
        return [
            None if spec.shape.rank is None else spec.shape.as_list(),
            spec.dtype.name,
        ]

    return [
        show(r.element_spec),
        show(r.batch(3).element_spec),
        show(r.batch(3, drop_remainder=True).element_spec),
        show(r.batch(3).batch(2).element_spec),
        show(r.map(lambda x: tf.cast(x, tf.float32)).element_spec),
        [show(x) for x in tf.data.Dataset.zip((r, r.batch(2))).element_spec],
        {
            k: show(v)
            for k, v in tf.data.Dataset.from_tensors(
                {"a": [1, 2], "b": 1.5}
            ).element_spec.items()
        },
        show(
            tf.data.Dataset.from_generator(
                lambda: iter([]),
                output_types=tf.float32,
                output_shapes=tf.TensorShape([4]),
            ).element_spec
        ),
    ]
