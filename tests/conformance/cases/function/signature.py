"""input_signature: one trace for all sizes; what does not fit is refused."""

from conformance.kit import attempt, pull

REPLICAS = 2


def case(tf):
    traced = []

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 2], tf.float32),
            {"k": tf.TensorSpec([], tf.int32)},
        ]
    )
    def f(x, d):
        traced.append(1)
        return tf.reduce_sum(x) * tf.cast(d["k"], tf.float32)

    return [
        pull(f(tf.ones([1, 2]), {"k": tf.constant(2)})),
        pull(f(tf.ones([3, 2]), {"k": 3})),
        pull(f([[1.0, 2.0]], {"k": 1})),
        "error" in attempt(lambda: f(tf.ones([3, 3]), {"k": 1})),
        "error" in attempt(lambda: f(tf.ones([3, 2], tf.int32), {"k": 1})),
        "error" in attempt(lambda: f(tf.ones([3, 2]))),
    ]
