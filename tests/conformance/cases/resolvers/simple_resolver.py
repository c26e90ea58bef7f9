"""SimpleClusterResolver: what it was given comes back."""

REPLICAS = 2


def case(tf):
    R = tf.distribute.cluster_resolver.SimpleClusterResolver
    spec = tf.train.ClusterSpec(
        {"worker": ["localhost:11", "localhost:22"], "ps": ["localhost:33"]}
    )
    r = R(
        spec,
        master="",
        task_type="worker",
        task_id=1,
        environment="",
        num_accelerators={"GPU": 8},
        rpc_layer="grpc",
    )
    return [
        r.cluster_spec().as_dict(),
        r.task_type,
        r.task_id,
        r.environment,
        r.rpc_layer,
        r.master("worker", 0),
        r.master("worker", 1),
        r.master("ps", 0),
        r.num_accelerators(),
    ]
