"""gather spans the workers; batches may differ in length."""

from conformance.kit import pull

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: tf.range(1 + 2 * ctx.replica_id_in_sync_group)
    )
    return pull(s.gather(v, axis=0))
