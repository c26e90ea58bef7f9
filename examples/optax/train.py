"""Trains with Optax: parameters and optimizer state are one variable each."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

import replax

strategy = replax.distribute.MirroredStrategy()  # every device of this machine
optimizer = optax.adam(3e-2)

initial = {"slope": jnp.zeros(3), "offset": jnp.zeros(())}
with strategy.scope():
    # A variable holds any tree of arrays, so neither has to be taken apart.
    parameters = replax.Variable(initial)
    optimizer_state = replax.Variable(optimizer.init(initial))


def squared_errors(parameters, x, y):
    return jnp.sum((x @ parameters["slope"] + parameters["offset"] - y) ** 2)


def step(x, y):
    replica = replax.distribute.get_replica_context()
    errors, gradients = jax.value_and_grad(squared_errors)(parameters.value(), x, y)
    # The mean over the rows of all replicas: from here on all of them compute the same.
    errors, gradients, rows = replica.all_reduce("SUM", (errors, gradients, len(x)))
    gradients = jax.tree.map(lambda g: g / rows, gradients)
    updates, state = optimizer.update(
        gradients, optimizer_state.value(), parameters.value()
    )
    optimizer_state.assign(state)
    parameters.assign(optax.apply_updates(parameters.value(), updates))
    return errors / rows


@replax.function
def train(x, y):
    losses = strategy.run(step, args=(x, y))
    return strategy.reduce("MEAN", losses, axis=None)


x = np.random.default_rng(0).normal(size=(1000, 3)).astype(np.float32)
y = x @ np.array([1, 2, 3], np.float32) + np.float32(0.5)
rows = replax.data.Dataset.from_tensor_slices((x, y))
# The last batch of an epoch is smaller, and replicas may get unequal parts of it.
batches = strategy.experimental_distribute_dataset(rows.shuffle(1000, seed=0).batch(64))

for epoch in range(1, 41):
    for x, y in batches:
        mean_loss = train(x, y)
    if epoch % 10 == 0:
        print(f"epoch {epoch}: loss {mean_loss:.6f}")

found = parameters.numpy()
print(f"slope {found['slope'].round(2)}, offset {found['offset']:.2f}")
