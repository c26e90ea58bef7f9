"""The pages of v1's MirroredStrategy: variables, compiled loops, input functions."""

import pathlib
import tempfile

import numpy as np

import replax.compat.v1 as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration() for _ in range(2)],
)
strategy = tf.distribute.MirroredStrategy()


def local(value):
    return [v.numpy().tolist() for v in strategy.experimental_local_results(value)]


# A variable in the scope, and one that a function creates in its first call.
with strategy.scope():
    x = tf.Variable(1.0)
print(x)
assert isinstance(x, tf.distribute.DistributedValues)
created = []


@tf.function
def create_variable():
    if not created:
        created.append(tf.Variable(1.0))


with strategy.scope():
    create_variable()
    print(created[0])
assert local(created[0]) == [1.0, 1.0]
outside = tf.Variable(1.0)
print(outside)
assert not isinstance(outside, tf.distribute.DistributedValues)

# An epoch in one function, which gets the distributed dataset.
with strategy.scope():

    @tf.function
    def distribute_train_epoch(dataset):
        def replica_fn(input):
            return tf.reduce_sum(input)

        total_result = 0
        for batch in dataset:
            per_replica_result = strategy.run(replica_fn, args=(batch,))
            total_result += strategy.reduce(
                tf.distribute.ReduceOp.SUM, per_replica_result, axis=None
            )
        return total_result

    dist_dataset = strategy.experimental_distribute_dataset(
        tf.data.Dataset.range(10).batch(4)
    )
    for _ in range(2):
        train_result = distribute_train_epoch(dist_dataset)
assert int(train_result) == 45

# Files, looped over, and with a signature.
folder = pathlib.Path(tempfile.mkdtemp())
files = [str(folder / f"{i}.tfr") for i in range(4)]
for file in files:
    with tf.io.TFRecordWriter(file) as writer:
        writer.write(b"one")
        writer.write(b"two")
records = tf.data.TFRecordDataset(files).batch(4)
dist_dataset = strategy.experimental_distribute_dataset(records)
count = 0
for x in dist_dataset:
    strategy.run(lambda record: None, args=(x,))
    count += 1
assert count == 2


@tf.function(input_signature=[dist_dataset.element_spec])
def train_step(inputs):
    return


for x in dist_dataset:
    strategy.run(train_step, args=(x,))

# An input function under its old name, and its iterator's signature.
global_batch_size = 8


def dataset_fn(input_context):
    batch_size = input_context.get_per_replica_batch_size(global_batch_size)
    d = tf.data.Dataset.from_tensors([[1.0]]).repeat(20).batch(batch_size)
    return d.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)


inputs = strategy.experimental_distribute_datasets_from_function(dataset_fn)
totals = []
for batch in inputs:
    totals.append(local(strategy.run(tf.reduce_sum, args=(batch,))))
assert totals == [[4.0, 4.0], [4.0, 4.0], [4.0, 0.0]]
iterator = iter(inputs)


@tf.function(input_signature=[iterator.element_spec])
def replica_fn_with_signature(inputs):
    return tf.reduce_sum(inputs)


for _ in range(2):
    out = strategy.run(replica_fn_with_signature, args=(next(iterator),))
assert local(out) == [4.0, 4.0]


def train(ds):
    @tf.function(input_signature=[ds.element_spec])
    def step_fn(inputs):
        return inputs

    for batch in ds:
        strategy.run(step_fn, args=(batch,))


train(inputs)

# NumPy arrays.
numpy_input = np.ones([10], dtype=np.float32)
dataset = strategy.experimental_make_numpy_dataset(numpy_input)
dist_dataset = strategy.experimental_distribute_dataset(dataset.batch(4))
assert [local(x) for x in dist_dataset][-1] == [[1.0], [1.0]]


# Iterators of TensorFlow 1.
def input_fn(input_context):
    batch_size = input_context.get_per_replica_batch_size(global_batch_size)
    d = tf.data.Dataset.from_tensors([[1.0]]).repeat().batch(batch_size)
    return d.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)


with strategy.scope():
    iterator = strategy.make_input_fn_iterator(input_fn)
    replica_results = strategy.experimental_run(lambda x: tf.reduce_sum(x), iterator)
assert local(replica_results) == [4.0, 4.0]
with strategy.scope():
    iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(8).batch(4))
    iterator.initialize()
    assert local(strategy.experimental_run(lambda x: x, iterator)) == [[0, 1], [2, 3]]
    values = iterator.get_next()
    doubled = strategy.extended.call_for_each_replica(lambda x: 2 * x, args=(values,))
assert local(doubled) == [[8, 10], [12, 14]]

# A configuration for sessions, copied.
config = tf.ConfigProto()
assert strategy.update_config_proto(config) is not config
