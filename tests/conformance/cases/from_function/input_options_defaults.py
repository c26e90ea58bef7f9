"""InputOptions: the defaults documented."""

REPLICAS = 2


def case(tf):
    o = tf.distribute.InputOptions()
    p = tf.distribute.InputOptions(
        experimental_fetch_to_device=False,
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA,
        experimental_place_dataset_on_device=False,
        experimental_per_replica_buffer_size=3,
    )
    M = tf.distribute.InputReplicationMode
    return [
        o.experimental_fetch_to_device,
        o.experimental_replication_mode == M.PER_WORKER,
        o.experimental_place_dataset_on_device,
        o.experimental_per_replica_buffer_size,
        p.experimental_fetch_to_device,
        p.experimental_replication_mode == M.PER_REPLICA,
        p.experimental_per_replica_buffer_size,
    ]
