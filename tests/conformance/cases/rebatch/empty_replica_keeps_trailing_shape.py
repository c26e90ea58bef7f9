"""An empty slice still has the element's trailing dimensions and dtype."""

import numpy as np

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.from_tensor_slices(
        np.arange(16, dtype=np.float32).reshape(4, 2, 2)
    ).batch(4)
    out = []
    for x in s.experimental_distribute_dataset(d):
        out.append(
            [
                [list(v.shape), str(v.numpy().dtype)]
                for v in s.experimental_local_results(x)
            ]
        )
    return out
