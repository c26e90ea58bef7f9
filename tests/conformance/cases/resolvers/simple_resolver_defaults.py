"""SimpleClusterResolver: everything but the spec is optional."""

REPLICAS = 2


def case(tf):
    R = tf.distribute.cluster_resolver.SimpleClusterResolver
    r = R(tf.train.ClusterSpec({"worker": ["localhost:11"]}))
    return [
        r.task_type,
        r.task_id,
        r.environment,
        r.rpc_layer,
        r.master(),
        r.master("worker", 0),
        r.master("worker", 0, rpc_layer="grpc"),
    ]
