"""InputContext gives each of 3 workers its own pipeline id."""

from conformance.kit import steps

REPLICAS = 1
WORKERS = 3


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    seen = []

    def dataset_fn(ctx):
        seen.append(
            [
                ctx.num_input_pipelines,
                ctx.input_pipeline_id,
                ctx.num_replicas_in_sync,
                ctx.get_per_replica_batch_size(6),
            ]
        )
        d = tf.data.Dataset.range(12).shard(
            ctx.num_input_pipelines, ctx.input_pipeline_id
        )
        return d.batch(ctx.get_per_replica_batch_size(6))

    got = steps(s, s.distribute_datasets_from_function(dataset_fn))
    return [seen, got]
