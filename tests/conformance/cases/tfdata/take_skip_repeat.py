"""take, skip and repeat with counts beyond the end, 0 and -1."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    d = tf.data.Dataset.range(3)
    show = lambda x: [pull(v) for v in x]
    return [
        show(d.take(2)),
        show(d.take(9)),
        show(d.take(-1)),
        show(d.take(0)),
        show(d.skip(1)),
        show(d.skip(9)),
        show(d.skip(-1)),
        show(d.repeat(2)),
        show(d.repeat(0)),
        show(d.repeat().take(7)),
        show(d.repeat(-1).take(4)),
    ]
