"""tf.function: if, while and for over tensors, break and continue."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    @tf.function
    def f(n):
        total = tf.constant(0)
        for i in tf.range(n):
            if i == 3:
                continue
            if total > 20:
                break
            total += i
        k = tf.constant(0)
        while k * k < n:
            k += 1
        return total, k

    return [pull(f(tf.constant(5))), pull(f(tf.constant(20))), pull(f(tf.constant(0)))]
