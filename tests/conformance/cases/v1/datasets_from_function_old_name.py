"""experimental_distribute_datasets_from_function still works."""

from conformance.kit import steps

REPLICAS = 2
API = "v1"


def case(tf):
    s = tf.distribute.MirroredStrategy()
    seen = []

    def dataset_fn(ctx):
        seen.append(ctx.input_pipeline_id)
        return tf.data.Dataset.range(8).batch(ctx.get_per_replica_batch_size(4))

    return [
        steps(s, s.experimental_distribute_datasets_from_function(dataset_fn)),
        seen,
    ]
