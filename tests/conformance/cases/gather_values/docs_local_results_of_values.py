"""Docs: value_fn returning num_replicas_in_sync; local results are (2, 2)."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.experimental_distribute_values_from_function(
        lambda ctx: ctx.num_replicas_in_sync
    )
    r = s.experimental_local_results(v)
    return [isinstance(r, tuple), pull(list(r))]
