"""An InputContext can be made directly; the defaults are 1, 0, 1."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    a = tf.distribute.InputContext()
    b = tf.distribute.InputContext(
        num_input_pipelines=3, input_pipeline_id=2, num_replicas_in_sync=6
    )
    return [
        [
            a.num_input_pipelines,
            a.input_pipeline_id,
            a.num_replicas_in_sync,
            a.get_per_replica_batch_size(5),
        ],
        [
            b.num_input_pipelines,
            b.input_pipeline_id,
            b.num_replicas_in_sync,
            b.get_per_replica_batch_size(12),
            attempt(lambda: b.get_per_replica_batch_size(8)),
        ],
    ]
