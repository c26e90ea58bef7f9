"""Guide: logical CPUs set up beforehand are what MirroredStrategy uses."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    cpus = tf.config.list_logical_devices("CPU")
    return [
        len(cpus),
        [d.device_type for d in cpus],
        s.num_replicas_in_sync,
        len(tf.config.list_physical_devices("CPU")),
    ]
