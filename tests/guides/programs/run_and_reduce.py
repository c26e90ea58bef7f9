"""The reference pages of Strategy: what run takes and gives, reduce, and all_reduce."""

import replax.compat.v1 as tf

tf.enable_eager_execution()
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration() for _ in range(2)],
)
strategy = tf.distribute.MirroredStrategy(devices=["CPU:0", "CPU:1"])


def local(value):
    return [v.numpy().tolist() for v in strategy.experimental_local_results(value)]


# A dataset over two devices, each batch given to a compiled function.
dataset = tf.data.Dataset.range(4).batch(2)
dist_dataset = strategy.experimental_distribute_dataset(dataset)


@tf.function
def doubled(input):
    return input * 2


result = []
for x in dist_dataset:
    result.append(strategy.run(doubled, args=(x,)))
print(result)
assert [local(x) for x in result] == [[[0], [2]], [[4], [6]]]


# Replica ids, summed; the operation by every spelling.
def step_fn():
    i = tf.distribute.get_replica_context().replica_id_in_sync_group
    return tf.identity(i)


per_replica_result = strategy.run(step_fn)
for op in ("SUM", "sum", tf.distribute.ReduceOp.SUM):
    total = strategy.reduce(op, per_replica_result, axis=None)
    assert int(total) == 1 and total.dtype == tf.int32
devices = [x.device for x in strategy.experimental_local_results(per_replica_result)]
print(devices, total.device)
assert len(set(devices)) == 2

# Eight rows over two replicas: by replica, and down to one number.
rows = strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(8))
batch = next(iter(rows))
assert strategy.reduce("sum", batch, axis=None).numpy().tolist() == [4, 6, 8, 10]
assert int(strategy.reduce("sum", batch, axis=0)) == 28

# A last, partial batch: six rows as four and two have the mean of six rows.
six = strategy.experimental_distribute_values_from_function(
    lambda ctx: tf.range(4.0) if ctx.replica_id_in_sync_group == 0 else tf.range(2.0)
)
mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, six, axis=0)
assert abs(float(mean) - 7 / 6) < 1e-6

# A tensor that all replicas get.
tensor_input = tf.constant(3.0)


@tf.function
def replica_fn(input):
    return input * 2.0


result = strategy.run(replica_fn, args=(tensor_input,))
print(result)
assert local(result) == [6.0, 6.0]


# Values made in the function itself.
@tf.function
def run():
    def value_fn(value_context):
        return value_context.num_replicas_in_sync

    distributed_values = strategy.experimental_distribute_values_from_function(value_fn)

    def replica_fn2(input):
        return input * 2

    return strategy.run(replica_fn2, args=(distributed_values,))


result = run()
print(result)
assert {int(x) for x in strategy.experimental_local_results(result)} == {4}


# Replicas that meet.
@tf.function
def run_all_reduce():
    def value_fn(value_context):
        return tf.constant(value_context.replica_id_in_sync_group)

    distributed_values = strategy.experimental_distribute_values_from_function(value_fn)

    def replica_fn(input):
        return tf.distribute.get_replica_context().all_reduce("sum", input)

    return strategy.run(replica_fn, args=(distributed_values,))


assert local(run_all_reduce()) == [1, 1]

# One device: everything is what it would be without a strategy.
one = tf.distribute.OneDeviceStrategy(device="/cpu:0")
with one.scope():
    v = tf.Variable(1.0)
    print(v.device)
result = 0
for i in range(10):
    result += one.run(lambda x: x * 2, args=(i,))
print(result)
assert result == 90

# The page of InputReplicationMode.
mode = tf.distribute.InputReplicationMode
assert repr(mode.PER_WORKER) == "<InputReplicationMode.PER_WORKER: 'PER_WORKER'>"
assert mode.PER_REPLICA.value == "PER_REPLICA"
