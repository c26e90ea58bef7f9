"""A nest of arrays gives a nest per element; lists of arrays are stacked."""

import numpy as np

from conformance.kit import pull

REPLICAS = 2
API = "v1"


def case(tf):
    s = tf.distribute.MirroredStrategy()
    a = s.experimental_make_numpy_dataset(
        {
            "x": np.arange(6, dtype=np.float32).reshape(3, 2),
            "y": (np.arange(3), np.arange(3) * 2),
        }
    )
    b = s.experimental_make_numpy_dataset((np.arange(2), [np.arange(2), np.arange(2)]))
    return [[pull(e) for e in a], [pull(e) for e in b]]
