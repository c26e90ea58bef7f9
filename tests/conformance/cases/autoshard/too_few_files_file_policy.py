"""Guide: FILE with 2 files for 3 workers is an InvalidArgumentError."""

from conformance.kit import attempt, policy, record_files

REPLICAS = 1
WORKERS = 3


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    files = record_files(tf, range(4), range(4))
    d = policy(tf, tf.data.TFRecordDataset(files).batch(3), "FILE")
    if s.cluster_resolver.task_id != 0:
        return "not asked"
    return attempt(lambda: next(iter(s.experimental_distribute_dataset(d))))
