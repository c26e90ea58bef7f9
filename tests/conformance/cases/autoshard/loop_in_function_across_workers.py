"""A for loop over uneven workers' data inside a tf.function ends together."""

from conformance.kit import pull

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()

    def dataset_fn(ctx):
        n = 5 if ctx.input_pipeline_id == 0 else 2
        return tf.data.Dataset.range(1, n + 1).batch(2)

    dist = s.distribute_datasets_from_function(dataset_fn)

    @tf.function
    def epoch(dist):
        total, count = tf.constant(0, tf.int64), tf.constant(0)
        for x in dist:
            total += s.reduce("SUM", x, axis=0)
            count += 1
        return total, count

    return [pull(epoch(dist)), pull(epoch(dist))]
