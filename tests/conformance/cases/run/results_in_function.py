"""What a run in a function returns: nests, None, constants, the same on all."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    @tf.function
    def f():
        def fn():
            i = tf.distribute.get_replica_context().replica_id_in_sync_group
            return {
                "i": tf.cast(i, tf.int32) + 1,
                "none": None,
                "t": (tf.constant(5), []),
            }

        return s.run(fn)

    r = f()
    return [
        local(s, r["i"]),
        r["none"],
        local(s, r["t"][0]),
        pull(r["t"][1]),
        sorted(r),
    ]
