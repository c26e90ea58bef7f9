"""Each worker saves to its own place and restores the mirrored value."""

import os

from conformance.kit import pull

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
    s.run(
        lambda: v.assign_add(
            tf.cast(
                tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32
            )
            + 1.0
        )
    )
    path = tf.train.Checkpoint(v=v).save(os.path.join(os.getcwd(), "ck"))
    v.assign(0.0)
    tf.train.Checkpoint(v=v).restore(path)
    return pull(v)
