"""InputReplicationMode has two members, valued by their names."""

REPLICAS = 2


def case(tf):
    M = tf.distribute.InputReplicationMode
    return [
        [m.name for m in M],
        M.PER_REPLICA.value,
        M.PER_WORKER.value,
        M("PER_WORKER") is M.PER_WORKER,
    ]
