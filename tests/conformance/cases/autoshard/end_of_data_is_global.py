"""get_next() raises OutOfRangeError only once no worker has data."""

from conformance.kit import attempt, local

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()

    def dataset_fn(ctx):
        return tf.data.Dataset.range(2 if ctx.input_pipeline_id == 0 else 4).batch(2)

    it = iter(s.distribute_datasets_from_function(dataset_fn))
    return [local(s, it.get_next()), local(s, it.get_next()), attempt(it.get_next)]
