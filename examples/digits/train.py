"""Trains on scikit-learn's digits: on two replicas, and on one device beside it.

There are 1,797 images, and no batch size divides what is trained on evenly: the last
batch of an epoch gives the replicas different numbers of rows. The numbers come out as
on one device all the same.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from rich.progress import track
from sklearn.datasets import load_digits

import replax

EPOCHS = 60
BATCH = 128
RATE = 0.2


def load():
    """Images as rows of numbers from 0 to 1, and labels: to train, and to test."""
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    images = (digits.data[order] / 16).astype(np.float32)
    labels = digits.target[order].astype(np.int32)
    return (images[:1437], labels[:1437]), (images[1437:], labels[1437:])


def initial_weights():
    random = np.random.default_rng(1)
    return {
        "hidden": random.normal(0, 0.15, (64, 64)).astype(np.float32),
        "hidden_bias": np.zeros(64, np.float32),
        "output": random.normal(0, 0.15, (64, 10)).astype(np.float32),
        "output_bias": np.zeros(10, np.float32),
    }


def scores(weights, images):
    hidden = jax.nn.relu(images @ weights["hidden"] + weights["hidden_bias"])
    return hidden @ weights["output"] + weights["output_bias"]


def train(strategy, data):
    """Trains a model. Nothing in here depends on how many replicas there are."""
    with strategy.scope():
        # One variable for the whole tree of weights; every replica has a copy.
        weights = replax.Variable(initial_weights())

    def step(images, labels):
        replica = replax.distribute.get_replica_context()
        # On all replicas together, not on this one: divided by that, every image counts
        # the same, however the batch was shared out.
        batch_size = replica.all_reduce("SUM", len(labels))

        def loss(weights):
            log_probabilities = jax.nn.log_softmax(scores(weights, images))
            right = jnp.take_along_axis(log_probabilities, labels[:, None], axis=1)
            return -jnp.sum(right) / batch_size

        value, gradients = jax.value_and_grad(loss)(weights.value())
        gradients = replica.all_reduce("SUM", gradients)
        weights.assign_sub(jax.tree.map(lambda g: RATE * g, gradients))
        return value

    # Compiled: one program for all replicas.
    @replax.function
    def train_step(images, labels):
        losses = strategy.run(step, args=(images, labels))
        return strategy.reduce("SUM", losses, axis=None)

    dataset = replax.data.Dataset.from_tensor_slices(data)
    batches = dataset.shuffle(len(dataset), seed=2).batch(BATCH)
    # Each replica gets its part of every batch, on its device.
    shared_out = strategy.experimental_distribute_dataset(batches)
    losses = []
    for _ in track(range(EPOCHS), repr(strategy)):
        for images, labels in shared_out:
            losses.append(train_step(images, labels))
    return weights.numpy(), float(losses[-1])


def accuracy(weights, data):
    images, labels = data
    return float(np.mean(np.argmax(scores(weights, images), axis=1) == labels))


def main():
    # Two virtual devices, made from the CPU; on a machine with GPUs, MirroredStrategy()
    # takes those, and this is not needed.
    cpu = replax.config.list_physical_devices("CPU")[0]
    two = [replax.config.LogicalDeviceConfiguration()] * 2
    replax.config.set_logical_device_configuration(cpu, two)

    training, test = load()
    last = len(training[1]) % BATCH
    print(
        f"{len(training[1])} images in batches of {BATCH}, the last of {last}; "
        f"{len(test[1])} to test"
    )
    strategies = {
        "two replicas": replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"]),
        "one device": replax.distribute.OneDeviceStrategy("CPU:0"),
    }
    accuracies = []
    for name, strategy in strategies.items():
        weights, loss = train(strategy, training)
        accuracies.append(accuracy(weights, test))
        print(f"{name}: last loss {loss:.6f}, test accuracy {accuracies[-1]:.2%}")
    if accuracies[0] != accuracies[1]:
        sys.exit("The accuracies differ.")
    print("Equal.")


if __name__ == "__main__":
    main()
