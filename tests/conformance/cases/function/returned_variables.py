"""A function returns the values that its variables have at its end."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        m = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)
        r = tf.Variable(
            1.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    out = []
    for v in (m, tf.Variable(1.0)):

        @tf.function
        def add(v=v):
            return v.assign_add(1.0)

        @tf.function
        def nest(v=v):
            return {"v": v}

        a, b, c = add(), add(), nest()["v"]
        v.assign(50.0)
        out.append([pull(a), pull(b), pull(c), isinstance(a, tf.Variable)])

    @tf.function
    def mirrored():
        return s.run(lambda: m.assign_add(tf.constant(1.0)))

    @tf.function
    def on_read():
        return s.run(lambda: r.assign_add(tf.constant(1.0)))

    return [*out, local(s, mirrored()), local(s, on_read()), pull(r)]
