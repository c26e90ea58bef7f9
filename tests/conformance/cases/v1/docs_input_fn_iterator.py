"""Docs: input_fn with InputContext, make_input_fn_iterator, experimental_run."""

from conformance.kit import local

REPLICAS = 2
API = "v1"


def case(tf):
    s = tf.distribute.MirroredStrategy()
    global_batch_size = 8

    def input_fn(ctx):
        batch_size = ctx.get_per_replica_batch_size(global_batch_size)
        d = tf.data.Dataset.from_tensors([[1.0]]).repeat().batch(batch_size)
        return d.shard(ctx.num_input_pipelines, ctx.input_pipeline_id)

    def replica_fn(x):
        return tf.reduce_sum(x)

    with s.scope():
        it = s.make_input_fn_iterator(input_fn)
        it.initialize()
        r = s.experimental_run(replica_fn, it)
    return local(s, r)
