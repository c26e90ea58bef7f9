"""The guide to distributed input: dataset functions, policies, and values by hand."""

import pathlib
import tempfile

import numpy as np

import replax.compat.v2 as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration() for _ in range(2)],
)
strategy = tf.distribute.MirroredStrategy()
global_batch_size = 16


def local(value):
    return [v.numpy().tolist() for v in strategy.experimental_local_results(value)]


# What the page says of splitting, over two replicas.
whole = tf.data.Dataset.range(6).batch(4, drop_remainder=False)
split = [local(x) for x in strategy.experimental_distribute_dataset(whole)]
assert split == [[[0, 1], [2, 3]], [[4], [5]]]

# A policy for several workers, which changes nothing on one.
dataset = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(64).batch(16)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = (
    tf.data.experimental.AutoShardPolicy.DATA
)
dataset = dataset.with_options(options)
assert len(list(strategy.experimental_distribute_dataset(dataset))) == 4


# A function that batches and shards by itself.
def dataset_fn(input_context):
    batch_size = input_context.get_per_replica_batch_size(global_batch_size)
    made = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(64).batch(16)
    made = made.shard(
        input_context.num_input_pipelines, input_context.input_pipeline_id
    )
    made = made.batch(batch_size)
    return made.prefetch(2)


dist_dataset = strategy.distribute_datasets_from_function(dataset_fn)
features, labels = next(iter(dist_dataset))
first, second = strategy.experimental_local_results(features)
assert first.shape == (4, 16, 1)
assert second.shape == (0, 16, 1)

# Predictions in the order of the rows, by their numbers.
numbered = tf.data.Dataset.range(24).enumerate().batch(6)


def predict(index, inputs):
    return index, 2 * inputs


result = {}
for index, inputs in strategy.experimental_distribute_dataset(numbered):
    output_index, outputs = strategy.run(predict, args=(index, inputs))
    indices = []
    for a in strategy.experimental_local_results(output_index):
        indices.extend(a.numpy())
    values = []
    for a in strategy.experimental_local_results(outputs):
        values.extend(a.numpy())
    for i, value in zip(indices, values):
        result[i] = value
print(result)
assert {int(k): int(v) for k, v in result.items()} == {i: 2 * i for i in range(24)}


# Values made for each replica, without a dataset.
def value_fn(ctx):
    return tf.constant(ctx.replica_id_in_sync_group)


distributed_values = strategy.experimental_distribute_values_from_function(value_fn)
for _ in range(4):
    result = strategy.run(lambda x: x, args=(distributed_values,))
    print(result)
assert local(result) == [0, 1]


# A generator.
def input_gen():
    while True:
        yield np.random.default_rng().random(4)


generated = tf.data.Dataset.from_generator(
    input_gen, output_types=(tf.float32), output_shapes=tf.TensorShape([4])
)
iterator = iter(strategy.experimental_distribute_dataset(generated))
for _ in range(4):
    result = strategy.run(lambda x: x, args=(next(iterator),))
    assert [v.shape for v in strategy.experimental_local_results(result)] == [(2,)] * 2

# Files: listed in order, sharded, shuffled, and parsed last.
folder = pathlib.Path(tempfile.mkdtemp())
for name in range(4):
    with tf.io.TFRecordWriter(str(folder / f"{name}.tfr")) as writer:
        for row in range(3):
            writer.write(b"%d" % (10 * name + row))
num_workers, worker_index, num_epochs = 2, 1, 2
d = tf.data.Dataset.list_files(str(folder / "*.tfr"), shuffle=False)
d = d.shard(num_workers, worker_index)
d = d.repeat(num_epochs)
d = d.shuffle(8)
d = d.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=1)
d = d.map(int, num_parallel_calls=2)
rows = sorted(int(x) for x in d)
assert rows == sorted([10, 11, 12, 30, 31, 32] * 2)
