"""Without TF_CONFIG the multi-worker strategy runs on the local machine."""

from conformance.kit import pull, steps

REPLICAS = 1
API = "v1"


def case(tf):
    s = tf.distribute.experimental.MultiWorkerMirroredStrategy(
        communication=tf.distribute.experimental.CollectiveCommunication.AUTO
    )
    with s.scope():
        v = tf.Variable(2.0)
    return [
        s.num_replicas_in_sync,
        pull(v),
        steps(s, s.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(4))),
        pull(s.reduce("SUM", s.run(lambda: v * 2.0))),
    ]
