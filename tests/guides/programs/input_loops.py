"""The guide to distributed input: batches, loops over them, and explicit iterators."""

import numpy as np

import replax.compat.v2 as tf

# Several CPUs on one machine, made before anything is computed.
cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(
    cpus[0], [tf.config.LogicalDeviceConfiguration() for _ in range(4)]
)
print(tf.__version__)
for i, device in enumerate(tf.config.list_logical_devices()):
    print("%d) %s" % (i, device))
assert len(tf.config.list_logical_devices()) == 4

# A loop without distribution: six batches of 16 and one of 4.
global_batch_size = 16
ones = tf.data.Dataset.from_tensors(([1.0], [1.0]))
dataset = ones.repeat(100).batch(global_batch_size)


def train_step(inputs):
    features, labels = inputs
    return labels - 0.3 * features


sizes = []
for inputs in dataset:
    out = train_step(inputs)
    np.testing.assert_allclose(out.numpy(), 0.7, rtol=1e-6)
    sizes.append(out.shape[0])
assert sizes == [16] * 6 + [4]

# The same batches, split over four replicas.
strategy = tf.distribute.MirroredStrategy()
assert strategy.num_replicas_in_sync == 4
dist_dataset = strategy.experimental_distribute_dataset(dataset)
features, labels = next(iter(dist_dataset))
print(features)
assert [x.shape for x in strategy.experimental_local_results(labels)] == [(4, 1)] * 4

# Looping over it.
shapes = []
for x in dist_dataset:
    loss = strategy.run(train_step, args=(x,))
    print("Loss is", loss)
    shapes.append([v.shape[0] for v in strategy.experimental_local_results(loss)])
assert shapes == [[4] * 4] * 6 + [[1] * 4]

# With an explicit iterator, a fixed number of steps, in several epochs.
seen = 0
for _ in range(3):
    iterator = iter(dist_dataset)
    for _ in range(5):
        by_next = strategy.run(train_step, args=(next(iterator),))
        seen += len(strategy.experimental_local_results(by_next))
    strategy.run(train_step, args=(iterator.get_next(),))
assert seen == 60

# Running to the end is an error that programs catch.
try:
    while True:
        iterator.get_next()
except tf.errors.OutOfRangeError:
    print("end of data")

# The end, asked for beforehand: nine rows in batches of four, no fifth step.
distributed = iter(
    strategy.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(4))
)
steps = []
for _ in tf.range(5):
    optional = distributed.get_next_as_optional()
    if not optional.has_value():
        break
    results = strategy.run(lambda x: x, args=(optional.get_value(),))
    tf.print(strategy.experimental_local_results(results))
    values = strategy.experimental_local_results(results)
    steps.append([v.numpy().tolist() for v in values])
assert steps == [[[0], [1], [2], [3]], [[4], [5], [6], [7]], [[8], [], [], []]]


# The same in a compiled function over the iterator.
@tf.function
def train_fn(data):
    for _ in tf.range(5):
        optional = data.get_next_as_optional()
        if not optional.has_value():
            break
        strategy.run(lambda x: x + 1, args=(optional.get_value(),))


train_fn(
    iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(4)))
)


# Several steps in one function, ended by the data.
@tf.function
def host_loop(data):
    for _ in tf.range(2):
        strategy.run(lambda x: x + 1, args=(next(data),))


data = iter(
    strategy.experimental_distribute_dataset(tf.data.Dataset.range(12).batch(4))
)
host_loop(data)
try:
    host_loop(data)
    raise AssertionError("there are three steps only")
except (tf.errors.OutOfRangeError, StopIteration):
    pass


# A signature from the dataset. The step doubles the tuple, and not what is in it.
@tf.function(input_signature=[dist_dataset.element_spec])
def signed_step(per_replica_inputs):
    def step_fn(inputs):
        return 2 * inputs

    return strategy.run(step_fn, args=(per_replica_inputs,))


for _ in range(2):
    iterator = iter(dist_dataset)
    for _ in range(5):
        output = signed_step(next(iterator))
        tf.print(output)
assert len(output) == 4
