"""Default dtypes, and what operations do with integers, booleans and 64 bits."""

import numpy as np

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    names = {
        "int32": tf.int32,
        "int64": tf.int64,
        "float32": tf.float32,
        "float64": tf.float64,
        "bool": tf.bool,
        "string": tf.string,
    }

    def kind(x):
        return [next(k for k, d in names.items() if x.dtype == d), pull(x)]

    return [
        kind(tf.constant(1)),
        kind(tf.constant([1, 2.5])),
        kind(tf.constant(True)),
        kind(tf.constant(["a", "bc"])),
        kind(tf.constant(np.array([1.0]))),
        kind(tf.constant(np.array([1]))),
        kind(tf.constant(1, tf.float64)),
        kind(tf.constant([], tf.int32)),
        kind(tf.constant(7, shape=[2])),
        kind(tf.constant(2**40)),
        kind(tf.range(3)),
        kind(tf.range(1.0, 2.0, 0.5)),
        kind(tf.range(5, 0, -2, dtype=tf.int64)),
        kind(tf.reduce_mean([-1, -2])),
        kind(tf.reduce_mean([1.0, 2.0])),
        kind(tf.reduce_sum([[1, 2], [3, 4]], axis=1, keepdims=True)),
        kind(tf.cast(-2.7, tf.int32)),
        kind(tf.cast([0, 2], tf.bool)),
        kind(tf.cast(True, tf.float32)),
        kind(tf.argmax([1, 3, 2])),
        kind(tf.equal([1, 2], [1, 3])),
        kind(tf.reduce_any([True, False])),
        kind(tf.size([[1, 2]], out_type=tf.int64)),
        kind(tf.shape([[1, 2]])),
        kind(tf.where([True, False], 1, 2)),
        kind(tf.where([False, True])),
        kind(tf.gather([10, 20, 30], [2, 0])),
        kind(tf.zeros([2], tf.int64)),
        kind(tf.ones_like([1.5])),
        kind(tf.eye(2)),
        kind(tf.fill([2], 3)),
        kind(tf.add_n([[1, 2], [3, 4]])),
        kind(tf.maximum([1, 5], 3)),
        kind(tf.pow([2, 3], 2)),
        kind(tf.one_hot([1], 2)),
        kind(tf.cumsum([1, 2, 3])),
        kind(tf.stack([1, 2.5])),
    ]
