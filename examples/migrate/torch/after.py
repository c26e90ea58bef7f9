"""The same training with Replax: one program, whatever the strategy's replicas are."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

import replax

# All devices of this machine are replicas. With MultiWorkerMirroredStrategy() in its
# place they are those of all workers, and nothing else changes.
strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

x = np.random.default_rng(0).normal(size=(96, 3)).astype(np.float32)
y = x @ np.array([1, 2, 3], np.float32) + np.float32(0.5)
# The batch is that of all replicas together, and each gets its part.
rows = replax.data.Dataset.from_tensor_slices((x, y)).batch(32)
loader = strategy.experimental_distribute_dataset(rows)

optimizer = optax.sgd(0.03, momentum=0.9)
with strategy.scope():
    weights = replax.Variable({"slope": jnp.zeros(3), "offset": jnp.zeros(())})
    state = replax.Variable(optimizer.init(weights.read_value()))


def mse(weights, x, y):
    return jnp.mean((x @ weights["slope"] + weights["offset"] - y) ** 2)


def step(x, y):
    old = weights.read_value()
    loss, gradients = jax.value_and_grad(mse)(old, x, y)
    replica = replax.distribute.get_replica_context()
    gradients = replica.all_reduce("MEAN", gradients)  # what DDP's backward does
    updates, new_state = optimizer.update(gradients, state.read_value(), old)
    weights.assign(optax.apply_updates(old, updates))
    state.assign(new_state)
    return loss


@replax.function
def train_step(batch):
    return strategy.reduce("MEAN", strategy.run(step, args=batch), axis=None)


for _ in range(3):
    for batch in loader:
        loss = train_step(batch)

trained = weights.numpy()
print("loss", f"{loss:.3f}")
print("slope", trained["slope"].round(3), "offset", f"{trained['offset']:.3f}")
