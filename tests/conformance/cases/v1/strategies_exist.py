"""The v1 names: strategies, enums and context functions."""

REPLICAS = 2
API = "v1"


def case(tf):
    D = tf.distribute
    return [
        D.MirroredStrategy().num_replicas_in_sync,
        D.OneDeviceStrategy("/cpu:0").num_replicas_in_sync,
        isinstance(D.MirroredStrategy(), D.Strategy),
        hasattr(D.experimental, "MultiWorkerMirroredStrategy"),
        [m.name for m in D.InputReplicationMode],
        [o.name for o in D.ReduceOp],
        D.has_strategy(),
        D.in_cross_replica_context(),
        tf.executing_eagerly(),
    ]
