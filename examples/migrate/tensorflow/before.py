"""A custom training loop of tf.distribute, on two devices."""

import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration() for _ in range(2)],
)
strategy = tf.distribute.MirroredStrategy()

x = np.random.default_rng(0).normal(size=(96, 3)).astype(np.float32)
y = x @ np.array([1, 2, 3], np.float32) + np.float32(0.5)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
dist_dataset = strategy.experimental_distribute_dataset(dataset)

with strategy.scope():
    slope = tf.Variable(tf.zeros([3]))
    offset = tf.Variable(0.0)


def step(x, y):
    with tf.GradientTape() as tape:
        errors = tf.reduce_sum(x * slope, axis=1) + offset - y
        loss = tf.reduce_sum(errors**2) / 32
    gradients = tape.gradient(loss, [slope, offset])
    replica = tf.distribute.get_replica_context()
    gradients = replica.all_reduce("SUM", gradients)
    slope.assign_sub(0.1 * gradients[0])
    offset.assign_sub(0.1 * gradients[1])
    return loss


@tf.function
def train_step(inputs):
    losses = strategy.run(step, args=inputs)
    return strategy.reduce("SUM", losses, axis=None)


for _ in range(3):
    for inputs in dist_dataset:
        loss = train_step(inputs)

print("loss", f"{float(loss):.3f}")
print("slope", slope.numpy().round(3), "offset", f"{offset.numpy():.3f}")
