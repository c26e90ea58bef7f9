"""Options that go together, and those that do not."""

from conformance.kit import attempt, steps

REPLICAS = 3


def case(tf):
    options, mode = tf.distribute.InputOptions, tf.distribute.InputReplicationMode
    each = mode.PER_REPLICA

    def whole(**how):
        s = tf.distribute.MirroredStrategy()
        return attempt(
            lambda: steps(
                s,
                s.distribute_datasets_from_function(
                    lambda ctx: tf.data.Dataset.range(3).map(
                        lambda x: x + 10 * ctx.input_pipeline_id
                    ),
                    options(**how),
                ),
            )
        )

    def split(**how):
        s = tf.distribute.MirroredStrategy()
        d = tf.data.Dataset.range(4).batch(3)
        return attempt(
            lambda: steps(s, s.experimental_distribute_dataset(d, options(**how)))
        )

    placed = {"experimental_place_dataset_on_device": True}
    here = {"experimental_fetch_to_device": False}
    return [
        whole(),
        whole(experimental_replication_mode=each),
        whole(experimental_replication_mode=each, **here),
        whole(**placed),
        whole(experimental_replication_mode=each, **placed),
        whole(experimental_replication_mode=each, **placed, **here),
        whole(experimental_per_replica_buffer_size=3),
        split(experimental_replication_mode=each),
        split(**placed),
        split(**here),
    ]
