"""Guide: catch OutOfRangeError, do other work, start another epoch."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.experimental_distribute_dataset(tf.data.Dataset.range(6).batch(4))
    out = []
    for epoch in range(2):
        it = iter(dist)
        while True:
            try:
                out.append(local(s, it.get_next()))
            except tf.errors.OutOfRangeError:
                out.append("evaluate %d" % epoch)
                break
    return out
