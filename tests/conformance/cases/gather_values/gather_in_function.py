"""gather inside a tf.function."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant([ctx.replica_id_in_sync_group] * 2)
    )

    @tf.function
    def f():
        return s.gather(v, axis=0)

    return pull(f())
