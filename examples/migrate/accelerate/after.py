"""The same training with Replax and Flax, whose model is lent its variables' values."""

import jax
import jax.numpy as jnp
import numpy as np
import torch
from flax import nnx
from torch.utils.data import DataLoader, TensorDataset

import replax

strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

x = np.random.default_rng(0).normal(size=(96, 3)).astype(np.float32)
y = x @ np.array([1, 2, 3], np.float32) + np.float32(0.5)
rows = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
# A loader of PyTorch is taken as it is; its batch is that of all replicas together.
loader = replax.data.as_dataset(DataLoader(rows, batch_size=32))
loader = strategy.experimental_distribute_dataset(loader)

zeros = nnx.initializers.zeros
layer = nnx.Linear(3, 1, kernel_init=zeros, bias_init=zeros, rngs=nnx.Rngs(0))
graph, parameters = nnx.split(layer)
with strategy.scope():
    weights = replax.Variable(parameters)


def mse(parameters, x, y):
    model = nnx.merge(graph, parameters)
    return jnp.mean((model(x)[:, 0] - y) ** 2)


def step(x, y):
    old = weights.read_value()
    loss, gradients = jax.value_and_grad(mse)(old, x, y)
    replica = replax.distribute.get_replica_context()
    gradients = replica.all_reduce("MEAN", gradients)
    weights.assign(jax.tree.map(lambda w, g: w - 0.1 * g, old, gradients))
    return loss


@replax.function
def train_step(batch):
    return strategy.reduce("MEAN", strategy.run(step, args=batch), axis=None)


for _ in range(3):
    for batch in loader:
        loss = train_step(tuple(batch))

trained = nnx.merge(graph, weights.read_value())
slope = np.asarray(trained.kernel[...])[:, 0]
print("loss", f"{loss:.3f}")
print("slope", slope.round(3), "offset", f"{float(trained.bias[0]):.3f}")
