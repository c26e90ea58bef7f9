"""The mean of whole numbers is a real one, of 64 bits for numbers of 32 and more."""

from conformance.kit import attempt, local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = []
    for name in ("int8", "uint8", "int16", "int32", "int64", "float16", "float64"):
        dtype = getattr(tf, name)

        def fn(dtype=dtype):
            ctx = tf.distribute.get_replica_context()
            return tf.cast(tf.stack([ctx.replica_id_in_sync_group * 3, 1]), dtype)

        x = s.run(fn)
        found = [s.reduce("MEAN", x, axis=axis) for axis in (None, 0)]
        out.append([[str(v.numpy().dtype), pull(v)] for v in found])

    def mean(dtype):
        ctx = tf.distribute.get_replica_context()
        x = tf.cast(ctx.replica_id_in_sync_group * 3, dtype)
        return ctx.all_reduce("mean", x)

    for dtype in (tf.int32, tf.int64, tf.float32):
        r = s.run(mean, args=(dtype,))
        kinds = [str(v.numpy().dtype) for v in s.experimental_local_results(r)]
        out.append([kinds, attempt(lambda r=r: local(s, r))])
    return out
