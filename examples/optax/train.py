"""Trains with Optax: parameters and optimizer state are one variable each."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

import replax

strategy = replax.distribute.MirroredStrategy()  # every device of this machine
optimizer = optax.adam(1e-2)

initial = {"slope": jnp.zeros(3), "offset": jnp.zeros(())}
with strategy.scope():
    # A variable holds any tree of arrays, so neither has to be taken apart.
    parameters = replax.Variable(initial)
    optimizer_state = replax.Variable(optimizer.init(initial))


def loss(parameters, x, y):
    return jnp.mean((x @ parameters["slope"] + parameters["offset"] - y) ** 2)


def step(x, y):
    value, gradients = jax.value_and_grad(loss)(parameters.value(), x, y)
    # The mean over the replicas: from here on all of them compute the same.
    replica = replax.distribute.get_replica_context()
    gradients = replica.all_reduce("MEAN", gradients)
    updates, state = optimizer.update(
        gradients, optimizer_state.value(), parameters.value()
    )
    optimizer_state.assign(state)
    parameters.assign(optax.apply_updates(parameters.value(), updates))
    return value


@replax.function
def train(x, y):
    losses = strategy.run(step, args=(x, y))
    return strategy.reduce("MEAN", losses, axis=None)


random = np.random.default_rng(0)


def batch(context):
    """32 rows for one replica, of the line that is to be found."""
    del context
    x = random.normal(size=(32, 3)).astype(np.float32)
    return x, x @ np.array([1, 2, 3], np.float32) + np.float32(0.5)


for number in range(600):
    x, y = strategy.experimental_distribute_values_from_function(batch)
    mean_loss = train(x, y)
    if number % 100 == 99:
        print(f"step {number + 1}: loss {mean_loss:.6f}")

found = parameters.numpy()
print(f"slope {found['slope'].round(2)}, offset {found['offset']:.2f}")
