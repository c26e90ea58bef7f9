"""Per-replica values printed and looked at in a host loop."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant([ctx.replica_id_in_sync_group])
    )
    out = []
    for step in range(2):
        x = s.run(lambda v, k: v + k, args=(x, step + 1))
        tf.print("step", step, s.experimental_local_results(x))
        out.append([len(s.experimental_local_results(x)), local(s, x)])
    return out
