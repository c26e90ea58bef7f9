"""The result of one run is an argument for the next."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    a = s.run(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group + 1)
    b = s.run(lambda x: x * 10, args=(a,))
    c = s.run(lambda x, y: {"sum": x + y}, args=(a, b))
    return local(s, c["sum"])
