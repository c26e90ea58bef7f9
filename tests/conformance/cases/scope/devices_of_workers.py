"""Workers name their devices by their tasks; the first one saves."""

REPLICAS = 1
WORKERS = 2


def case(tf):
    e = tf.distribute.MultiWorkerMirroredStrategy().extended
    return [
        list(e.worker_devices),
        e.experimental_between_graph,
        e.should_checkpoint,
        e.should_save_summary,
        e.experimental_should_init,
    ]
