"""NumPy arrays are converted to the variable's dtype, tensors are not."""

import numpy as np

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = {}
    for name in ("float32", "float64", "int32", "int64", "uint8"):
        for given in ("float32", "float64", "int32", "int64", "bool"):
            if name[0] != "f" and given[0] == "f":
                continue
            with s.scope():
                v = tf.Variable([0], dtype=getattr(tf, name))
            x = np.array([1], given)
            out[f"{name} {given}"] = [
                attempt(lambda v=v, x=x: v.assign(x)),
                attempt(lambda v=v, x=x: v.assign_add(x)),
                attempt(lambda v=v, x=x: v.assign(x[0:1])),
            ]
    v = tf.Variable(0.5)
    out["scalars"] = [attempt(lambda: v.assign(np.int64(3))), v.dtype == tf.float32]
    w = tf.Variable([1, 2])
    out["tensors"] = [
        attempt(lambda: w.assign(tf.constant([1.0, 2.0]))),
        attempt(lambda: w.assign(tf.constant([1, 2], tf.int64))),
    ]
    return out
