"""PER_REPLICA: dataset_fn is called per replica, each with its own pipeline."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    seen = []

    def dataset_fn(ctx):
        seen.append(
            [ctx.num_input_pipelines, ctx.input_pipeline_id, ctx.num_replicas_in_sync]
        )
        return (
            tf.data.Dataset.range(4)
            .batch(2)
            .map(lambda x: x + 100 * ctx.input_pipeline_id)
        )

    options = tf.distribute.InputOptions(
        experimental_fetch_to_device=False,
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA,
    )
    dist = s.distribute_datasets_from_function(dataset_fn, options)
    return [seen, steps(s, dist)]
