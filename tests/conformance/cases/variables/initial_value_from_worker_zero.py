"""Different initial values on workers: worker 0's is broadcast."""

from conformance.kit import pull

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    with s.scope():
        v = tf.Variable(10.0 + s.cluster_resolver.task_id)
    return pull(v)
