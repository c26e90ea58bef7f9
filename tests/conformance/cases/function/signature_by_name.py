"""With an input_signature arguments may be given by name; others are refused."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    class Scaler:
        @tf.function(
            input_signature=[
                tf.TensorSpec([], tf.int32),
                tf.TensorSpec([2], tf.float32),
            ]
        )
        def __call__(self, n, x):
            return x * tf.cast(n, tf.float32)

    f = Scaler().__call__
    return [
        attempt(lambda: f(3, [1.0, 2.0])),
        attempt(lambda: f(x=[1.0, 2.0], n=2)),
        attempt(lambda: f(1, [1, 2])),
        attempt(lambda: f(2.5, [1.0, 2.0])),
        attempt(lambda: f(1, [1.0, 2.0, 3.0])),
        attempt(lambda: f(1)),
        attempt(lambda: f(1, y=[1.0, 2.0])),
    ]
