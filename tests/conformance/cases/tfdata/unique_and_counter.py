"""unique, counter, assert_cardinality, and scan with a nest as its state."""

from conformance.kit import attempt, pull

REPLICAS = 1


def case(tf):
    dataset = tf.data.Dataset
    counted = tf.data.experimental.assert_cardinality
    odd = dataset.range(9).filter(lambda x: x % 2 == 1)
    zero, one = tf.constant(0, tf.int64), tf.constant(1, tf.int64)
    fibonacci = dataset.range(6).scan(
        (zero, one), lambda s, x: ((s[1], s[0] + s[1]), (x, s[0]))
    )
    return [
        [pull(x) for x in dataset.from_tensor_slices([1, 37, 2, 37, 1]).unique()],
        [pull(x) for x in dataset.from_tensor_slices(["a", "b", "a"]).unique()],
        attempt(lambda: list(dataset.from_tensor_slices([1.0, 2.0]).unique())),
        [pull(x) for x in dataset.counter(start=10, step=5).take(3)],
        pull(dataset.counter().cardinality()),
        pull(odd.apply(counted(4)).cardinality()),
        attempt(lambda: [pull(x) for x in odd.apply(counted(4))]),
        attempt(lambda: [pull(x) for x in odd.apply(counted(5))]),
        attempt(lambda: [pull(x) for x in odd.apply(counted(3))]),
        [pull(x) for x in fibonacci],
    ]
