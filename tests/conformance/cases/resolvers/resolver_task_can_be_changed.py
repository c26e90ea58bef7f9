"""task_type and task_id can be set on a resolver."""

REPLICAS = 2


def case(tf):
    R = tf.distribute.cluster_resolver.SimpleClusterResolver
    r = R(
        tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "chief": ["c:3"]}),
        task_type="worker",
        task_id=0,
    )
    r.task_type, r.task_id = "chief", 0
    return [r.task_type, r.task_id]
