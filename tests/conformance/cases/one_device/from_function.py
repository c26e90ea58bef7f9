"""distribute_datasets_from_function: one call, a context of one."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.OneDeviceStrategy("/cpu:0")
    seen = []

    def dataset_fn(ctx):
        seen.append(
            [
                ctx.num_input_pipelines,
                ctx.input_pipeline_id,
                ctx.num_replicas_in_sync,
                ctx.get_per_replica_batch_size(3),
            ]
        )
        return tf.data.Dataset.range(5).batch(2)

    return [steps(s, s.distribute_datasets_from_function(dataset_fn)), seen]
