"""Docs: Python integers in run; the sum of 2*i over range(10) is 90."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.OneDeviceStrategy(device="/cpu:0")
    result = 0
    for i in range(10):
        result += s.run(lambda x: x * 2, args=(i,))
    return pull(result)
