"""Docs: from_tensors([[1.]]).repeat().batch(per replica size).shard(1, 0)."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def dataset_fn(ctx):
        d = (
            tf.data.Dataset.from_tensors([[1.0]])
            .repeat()
            .batch(ctx.get_per_replica_batch_size(8))
        )
        return d.shard(ctx.num_input_pipelines, ctx.input_pipeline_id)

    it = iter(s.distribute_datasets_from_function(dataset_fn))
    return [
        [list(v.shape) for v in s.experimental_local_results(next(it))]
        for _ in range(3)
    ]
