"""The current strategy is per thread."""

import threading

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    seen = []

    def look():
        seen.append(tf.distribute.has_strategy())
        with s.scope():
            seen.append(tf.distribute.get_strategy() is s)

    with s.scope():
        t = threading.Thread(target=look)
        t.start()
        t.join()
        seen.append(tf.distribute.has_strategy())
    return seen
