"""Docs: reduce('SUM') of the replica ids, axis=None."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def step_fn():
        i = tf.distribute.get_replica_context().replica_id_in_sync_group
        return tf.identity(i)

    per = s.run(step_fn)
    return pull(s.reduce("SUM", per, axis=None))
