"""reduce and gather under the scope of another strategy are RuntimeErrors."""

from conformance.kit import attempt, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    other = tf.distribute.OneDeviceStrategy("/cpu:0")
    x = s.run(lambda: tf.constant([1.0, 2.0]))

    def there(fn):
        with other.scope():
            return fn()

    return [
        attempt(lambda: there(lambda: s.reduce("SUM", x, axis=None))),
        attempt(lambda: there(lambda: s.gather(x, axis=0))),
        pull(s.reduce("SUM", x, axis=None)),
    ]
