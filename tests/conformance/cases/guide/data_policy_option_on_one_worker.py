"""Guide: the DATA policy set through tf.data.Options, on one worker."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dataset = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(64).batch(16)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = (
        tf.data.experimental.AutoShardPolicy.DATA
    )
    dataset = dataset.with_options(options)
    return [
        [list(v.shape) for v in s.experimental_local_results(x)]
        for x, _ in s.experimental_distribute_dataset(dataset)
    ]
