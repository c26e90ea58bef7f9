"""The result has the structure fn returns: tuple, list, dict, nested."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def fn():
        i = tf.distribute.get_replica_context().replica_id_in_sync_group
        return (i, [i + 10, {"k": i + 20}], {"z": (i + 30,)})

    r = s.run(fn)
    return [
        isinstance(r, tuple),
        isinstance(r[1], list),
        isinstance(r[2], dict),
        isinstance(r[2]["z"], tuple),
        local(s, r[0]),
        local(s, r[1][0]),
        local(s, r[1][1]["k"]),
        local(s, r[2]["z"][0]),
    ]
