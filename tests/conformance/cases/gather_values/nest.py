"""gather of a nest, and of values that differ in the length of the axis."""

from conformance.kit import pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def value(ctx):
        i = ctx.replica_id_in_sync_group
        return {"a": tf.fill([i, 2], i), "b": (tf.fill([1, 2], float(i)),)}

    x = s.experimental_distribute_values_from_function(value)
    return [pull(s.gather(x["a"], axis=0)), pull(s.gather(x["b"][0], axis=1))]
