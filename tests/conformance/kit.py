"""What the cases share: plain answers out of distributed values, and input files."""

from __future__ import annotations

from pathlib import Path


def pull(x):
    """Tensors, or nests of them, as plain Python values."""
    if isinstance(x, dict):
        return {k: pull(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return [pull(v) for v in x]
    if hasattr(x, "numpy"):
        x = x.numpy()
    if hasattr(x, "tolist"):
        x = x.tolist()
    if isinstance(x, list):
        return [pull(v) for v in x]
    return x.decode() if isinstance(x, bytes) else x


def local(strategy, x):
    """What each local replica holds; nests keep their structure."""
    if isinstance(x, dict):
        return {k: local(strategy, v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return [local(strategy, v) for v in x]
    return [pull(v) for v in strategy.experimental_local_results(x)]


def steps(strategy, dist_dataset):
    """Every step of a distributed dataset, per replica."""
    return [local(strategy, x) for x in dist_dataset]


def attempt(fn):
    """The value of fn(), or the name of the error it raised."""
    try:
        return pull(fn())
    except Exception as e:  # noqa: BLE001 - which error it is, is the answer
        return {"error": type(e).__name__}


def policy(tf, dataset, name):
    """The dataset with that autoshard policy."""
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = getattr(
        tf.data.experimental.AutoShardPolicy, name
    )
    return dataset.with_options(options)


def text_files(*contents):
    """Writes one text file per list (a line per item); returns the paths."""
    paths = []
    for i, lines in enumerate(contents):
        path = Path.cwd() / f"part-{i}.txt"
        path.write_text("".join(f"{line}\n" for line in lines))
        paths.append(str(path))
    return paths


def record_files(tf, *contents):
    """Writes one TFRecord file per list (a record per item); returns the paths."""
    paths = []
    for i, records in enumerate(contents):
        paths.append(str(Path.cwd() / f"part-{i}.tfrecord"))
        with tf.io.TFRecordWriter(paths[-1]) as writer:
            for record in records:
                writer.write(str(record).encode())
    return paths
