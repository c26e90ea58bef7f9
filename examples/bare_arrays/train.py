"""Trains without variables: the weights go into the step, and come out of it."""

import jax
import jax.numpy as jnp
import numpy as np

import replax

RATE = 0.1

strategy = replax.distribute.MirroredStrategy()  # every device of this machine


def loss(weights, x, y):
    return jnp.mean((x @ weights["slope"] + weights["offset"] - y) ** 2)


def step(weights, x, y):
    value, gradients = jax.value_and_grad(loss)(weights, x, y)
    replica = replax.distribute.get_replica_context()
    gradients = replica.all_reduce("MEAN", gradients)
    return jax.tree.map(lambda w, g: w - RATE * g, weights, gradients), value


@replax.function
def train(weights, x, y):
    # Plain arrays reach every replica as they are; of x and y each gets its own.
    new_weights, losses = strategy.run(step, args=(weights, x, y))
    # What a step returns is there once for each replica. The weights are equal on all
    # of them, so that their mean is the value that each has.
    return strategy.reduce("MEAN", (new_weights, losses), axis=None)


random = np.random.default_rng(0)


def batch(context):
    """32 rows for one replica, of the line that is to be found."""
    del context
    x = random.normal(size=(32, 3)).astype(np.float32)
    return x, x @ np.array([1, 2, 3], np.float32) + np.float32(0.5)


weights = {"slope": jnp.zeros(3), "offset": jnp.zeros(())}
for number in range(100):
    x, y = strategy.experimental_distribute_values_from_function(batch)
    weights, mean_loss = train(weights, x, y)
    if number % 20 == 19:
        print(f"step {number + 1}: loss {mean_loss:.6f}")

print(f"slope {weights['slope'].round(2)}, offset {weights['offset']:.2f}")
