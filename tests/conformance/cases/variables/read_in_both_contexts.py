"""Reading outside run gives one value, in run each replica's component."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(2.0)
        inside = pull(v + 1.0)
    r = s.run(
        lambda: (
            v * 10.0
            + tf.cast(
                tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32
            )
        )
    )
    return [
        inside,
        pull(v.read_value()),
        pull(tf.identity(v)),
        pull(v.numpy()),
        local(s, r),
        pull(tf.convert_to_tensor(v)),
        pull(v.value()),
    ]
