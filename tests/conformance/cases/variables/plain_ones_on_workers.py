"""Variables made outside of the scope belong to each worker alone."""

from conformance.kit import local, pull

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    me = float(s.cluster_resolver.task_id)
    with s.scope():
        v = tf.Variable([1.0, 2.0])
    p = tf.Variable(me)
    p.assign_add(10.0)
    step = tf.function(lambda: p.assign_sub(1.0))
    return [
        pull(p),
        pull(step()),
        local(s, s.run(lambda: v * p)),
        len(s.experimental_local_results(p)),
        isinstance(p, tf.distribute.DistributedValues),
    ]
