"""list_files with a seed: the workers' files do not overlap."""

import os

from conformance.kit import local, steps, text_files

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    text_files("ab", "cd", "ef", "gh")
    d = tf.data.Dataset.list_files(
        os.path.join(os.getcwd(), "part-*.txt"), shuffle=True, seed=7
    )
    d = d.interleave(tf.data.TextLineDataset, cycle_length=1).batch(4)
    seen = set()
    for step in steps(s, s.experimental_distribute_dataset(d)):
        seen.update(v for r in step for v in r)
    marks = tf.constant([1 if c in seen else 0 for c in "abcdefgh"])
    times = s.run(
        lambda m: tf.distribute.get_replica_context().all_reduce("sum", m),
        args=(marks,),
    )
    return [len(seen), local(s, times)]
