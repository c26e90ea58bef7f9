"""Dict elements: the spec is a dict, usable as a signature."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.from_tensor_slices(
        {"a": [1.0, 2.0, 3.0], "b": [4, 5, 6]}
    ).batch(2)
    dist = s.experimental_distribute_dataset(d)

    @tf.function(input_signature=[dist.element_spec])
    def fn(x):
        return s.run(lambda v: {"c": v["a"] * 2.0, "d": v["b"] + 1}, args=(x,))

    return [sorted(dist.element_spec), [local(s, fn(x)) for x in dist]]
