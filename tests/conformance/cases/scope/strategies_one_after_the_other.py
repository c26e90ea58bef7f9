"""Two strategies used in turns, each with its own variables."""

from conformance.kit import local, pull

REPLICAS = 3


def case(tf):
    a = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    b = tf.distribute.MirroredStrategy(["CPU:1", "CPU:2"])
    with a.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
    with b.scope():
        w = tf.Variable(2.0, aggregation=tf.VariableAggregation.MEAN)
    out = []
    for _ in range(2):
        a.run(lambda: v.assign_add(tf.constant(1.0)) and None)
        b.run(lambda: w.assign_add(tf.constant(1.0)) and None)
        out.append([local(a, v), local(b, w)])
    x = a.run(lambda: v * 1.0)
    return [out, pull(a.reduce("SUM", x, axis=None)), pull(w + v)]
