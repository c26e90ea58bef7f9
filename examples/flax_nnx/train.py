"""Trains a Flax NNX model: split into a description and its arrays, merged in the step.

An NNX model is a Python object that holds arrays. A compiled step must not change
objects of its surroundings, so the arrays live in variables, and the step makes the
model from them anew.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

import replax

RATE = 0.05

strategy = replax.distribute.MirroredStrategy()  # every device of this machine


class Model(nnx.Module):
    """Two layers, with batch statistics that change whenever it is called."""

    def __init__(self, rngs):
        self.hidden = nnx.Linear(2, 32, rngs=rngs)
        self.norm = nnx.BatchNorm(32, momentum=0.9, rngs=rngs)
        self.output = nnx.Linear(32, 1, rngs=rngs)

    def __call__(self, x):
        return self.output(nnx.relu(self.norm(self.hidden(x))))[:, 0]


# The description, the arrays that are trained, and all others: the batch statistics.
graph, initial, initial_statistics = nnx.split(Model(nnx.Rngs(0)), nnx.Param, ...)
with strategy.scope():
    parameters = replax.Variable(initial)
    # Each replica sees other rows and so has other statistics. What is assigned is
    # their mean, and the copies stay equal.
    statistics = replax.Variable(
        initial_statistics, aggregation=replax.VariableAggregation.MEAN
    )


def loss(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def step(x, y):
    model = nnx.merge(graph, parameters.value(), statistics.value())
    value, gradients = nnx.value_and_grad(loss)(model, x, y)
    replica = replax.distribute.get_replica_context()
    gradients = replica.all_reduce("MEAN", gradients)
    parameters.assign_sub(jax.tree.map(lambda g: RATE * g, gradients))
    # Calling the model has changed its statistics; they have to be kept.
    _, _, new_statistics = nnx.split(model, nnx.Param, ...)
    statistics.assign(new_statistics)
    return value


@replax.function
def train(x, y):
    losses = strategy.run(step, args=(x, y))
    return strategy.reduce("MEAN", losses, axis=None)


random = np.random.default_rng(0)


def batch(context):
    """256 points for one replica, and what is to be learned of them."""
    del context
    x = random.uniform(-1, 1, size=(256, 2)).astype(np.float32)
    return x, x[:, 0] * x[:, 1]


for number in range(1000):
    x, y = strategy.experimental_distribute_values_from_function(batch)
    mean_loss = train(x, y)
    if number % 200 == 199:
        print(f"step {number + 1}: loss {mean_loss:.6f}")

# The trained model, to be used like any other.
model = nnx.merge(graph, parameters.value(), statistics.value())
model.eval()
print(f"0.5 * 0.5 is about {model(jnp.array([[0.5, 0.5]]))[0]:.2f}")
