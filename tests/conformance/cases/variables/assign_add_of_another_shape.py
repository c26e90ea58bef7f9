"""Another shape: ValueError of assign, InvalidArgumentError of the others."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable([1.0, 2.0], aggregation=tf.VariableAggregation.MEAN)
    p = tf.Variable([1.0, 2.0])
    x = tf.constant([1.0, 2.0, 3.0])
    compiled = tf.function(lambda: p.assign_add(x))
    return [
        *(
            attempt(lambda w=w, verb=verb: getattr(w, verb)(x))
            for w in (v, p)
            for verb in ("assign", "assign_add", "assign_sub")
        ),
        attempt(lambda: s.run(lambda: v.assign_add(x * 1.0))),
        attempt(compiled),
    ]
