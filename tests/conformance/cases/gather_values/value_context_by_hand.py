"""Docs: a ValueContext made directly."""

REPLICAS = 2


def case(tf):
    C = tf.distribute.experimental.ValueContext
    a, b = C(), C(replica_id_in_sync_group=2, num_replicas_in_sync=4)
    return [
        a.replica_id_in_sync_group,
        a.num_replicas_in_sync,
        b.replica_id_in_sync_group / b.num_replicas_in_sync,
    ]
