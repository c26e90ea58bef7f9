"""One training step of a perceptron on several processes, as each peer writes it.

Each process has one device and its share of the batch; plain gradient descent, the
loss waited for at every step. Each function returns the step to be measured.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from groups import tf_config
from training import BATCH, RATE, Step, batch, initial_weights, jax_loss

WIDTHS = (784, 256, 10)


def share(rank: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of one process."""
    rows = BATCH // size
    x, y = batch(WIDTHS)
    return x[rank * rows :][:rows], y[rank * rows :][:rows]


def replax(rank: int, addresses: Sequence[str]) -> Step:
    """The step of a user of Replax."""
    import jax  # noqa: PLC0415 - each peer imports its own library only

    import replax as rx  # noqa: PLC0415

    os.environ["TF_CONFIG"] = tf_config(rank, addresses)
    strategy = rx.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        weights = [rx.Variable(w) for w in initial_weights(WIDTHS)]

    def step(x: Any, y: Any) -> Any:
        values = [w.value() for w in weights]
        loss, gradients = jax.value_and_grad(jax_loss)(values, x, y)
        replica = rx.distribute.get_replica_context()
        gradients = replica.all_reduce("MEAN", gradients)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.assign_sub(RATE * gradient)
        return loss

    @rx.function
    def train(x: Any, y: Any) -> Any:
        return strategy.run(step, args=(x, y))

    mine = strategy.experimental_distribute_values_from_function(
        lambda _: share(rank, len(addresses))
    )
    return lambda: jax.block_until_ready(
        strategy.experimental_local_results(train(*mine))
    )


def hand_written(rank: int, addresses: Sequence[str]) -> Step:
    """The step of somebody who writes `jit(shard_map)` with a sum for each gradient."""
    import jax  # noqa: PLC0415
    from jax.sharding import Mesh, NamedSharding  # noqa: PLC0415
    from jax.sharding import PartitionSpec as P  # noqa: PLC0415

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(addresses[0], len(addresses), rank)
    mesh = Mesh(np.array(jax.devices()), ("replica",))

    def step(weights: Any, x: Any, y: Any) -> Any:
        loss, gradients = jax.value_and_grad(jax_loss)(weights, x, y)
        gradients = jax.tree.map(lambda g: jax.lax.pmean(g, "replica"), gradients)
        weights = [w - RATE * g for w, g in zip(weights, gradients, strict=True)]
        return weights, loss[None]

    sharded = jax.shard_map(
        step,
        mesh=mesh,
        in_specs=(P(), P("replica"), P("replica")),
        out_specs=(P(), P("replica")),
        check_vma=False,
    )
    program = jax.jit(sharded, donate_argnums=0)
    weights = jax.device_put(initial_weights(WIDTHS), NamedSharding(mesh, P()))
    x, y = (
        jax.make_array_from_process_local_data(NamedSharding(mesh, P("replica")), part)
        for part in share(rank, len(addresses))
    )

    def train() -> object:
        nonlocal weights
        weights, loss = program(weights, x, y)
        return jax.block_until_ready(loss)

    return train


def torch_group(rank: int, addresses: Sequence[str]) -> Any:
    """Torch with its processes connected, and as many threads as torchrun gives."""
    import torch  # noqa: PLC0415

    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo",
        init_method=f"tcp://{addresses[0]}",
        rank=rank,
        world_size=len(addresses),
    )
    return torch


def torch_ddp(rank: int, addresses: Sequence[str]) -> Step:
    """The step of a user of torch's DistributedDataParallel."""
    torch = torch_group(rank, addresses)
    model = torch.nn.Sequential(
        torch.nn.Linear(WIDTHS[0], WIDTHS[1]),
        torch.nn.ReLU(),
        torch.nn.Linear(WIDTHS[1], WIDTHS[2]),
    )
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), RATE)
    loss_of = torch.nn.CrossEntropyLoss()
    rows = share(rank, len(addresses))
    x, y = torch.from_numpy(rows[0].copy()), torch.from_numpy(rows[1].astype(np.int64))

    def train() -> object:
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return train


def tensorflow(rank: int, addresses: Sequence[str]) -> Step:
    """The step of a user of tf.distribute."""
    os.environ["TF_CONFIG"] = tf_config(rank, addresses)
    import tensorflow as tf  # noqa: PLC0415

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        weights = [tf.Variable(w) for w in initial_weights(WIDTHS)]

    def loss_of(x: Any, y: Any) -> Any:
        hidden = tf.nn.relu(x @ weights[0] + weights[1])
        scores = hidden @ weights[2] + weights[3]
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, scores))

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(x, y)
        replica = tf.distribute.get_replica_context()
        gradients = replica.all_reduce("MEAN", tape.gradient(loss, weights))
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.assign_sub(RATE * gradient)
        return loss

    @tf.function
    def train(x: Any, y: Any) -> Any:
        return strategy.run(step, args=(x, y))

    x, y = (tf.constant(part) for part in share(rank, len(addresses)))
    return lambda: train(x, y).numpy()
