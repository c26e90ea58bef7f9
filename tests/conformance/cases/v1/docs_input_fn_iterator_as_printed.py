"""Docs: the snippet as printed, without an explicit initialize()."""

from conformance.kit import local

REPLICAS = 2
API = "v1"


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def input_fn(ctx):
        d = (
            tf.data.Dataset.from_tensors([[1.0]])
            .repeat()
            .batch(ctx.get_per_replica_batch_size(4))
        )
        return d.shard(ctx.num_input_pipelines, ctx.input_pipeline_id)

    with s.scope():
        it = s.make_input_fn_iterator(input_fn)
        return local(s, s.experimental_run(lambda x: tf.reduce_sum(x), it))
