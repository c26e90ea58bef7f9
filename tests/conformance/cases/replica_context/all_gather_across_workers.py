"""all_gather spans the workers, in the order of replica ids."""

from conformance.kit import local

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()

    def fn():
        ctx = tf.distribute.get_replica_context()
        i = ctx.replica_id_in_sync_group
        return ctx.all_gather(tf.stack([i, i + 10]), axis=0)

    return local(s, s.run(fn))
