"""With one replica a worker, what workers assign and reduce is summed over them."""

from conformance.kit import pull

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
    c = tf.constant(2.0)
    out = []
    for fn, args in (
        (lambda: v.assign_add(1.0), ()),
        (lambda: v.assign_add(c), ()),
        (lambda x: v.assign_add(x), (c,)),
    ):
        s.run(fn, args=args)
        out.append(pull(v))

    step = tf.function(lambda: s.run(lambda: v.assign_add(1.0)) is None)
    step()
    x = tf.constant([1.0, 2.0]) * (1.0 + s.cluster_resolver.task_id)
    return [
        out,
        pull(v),
        pull(s.reduce("SUM", x, axis=None)),
        pull(s.reduce("MEAN", x, axis=None)),
        pull(s.reduce("SUM", x, axis=0)),
        pull(s.reduce("SUM", 3.0, axis=None)),
    ]
