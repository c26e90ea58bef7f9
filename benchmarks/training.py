"""One training step of a perceptron, as each of the peers writes it.

Two replicas on two virtual CPU devices, plain gradient descent, the loss waited for at
every step. Each function returns the step to be measured.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

BATCH = 128
RATE = 0.1
REPLICAS = 2

Step = Callable[[], object]

# Gives batches that are on the devices, of a strategy or as a sharding says.
Feed = Callable[[Any], Iterator[tuple[Any, Any]]]


def has_tensorflow() -> bool:
    """Whether the peer is installed; `make bench` does that."""
    return importlib.util.find_spec("tensorflow") is not None


def initial_weights(widths: Sequence[int]) -> list[np.ndarray]:
    """A matrix and a bias for each layer."""
    random = np.random.default_rng(0)
    weights: list[np.ndarray] = []
    for inputs, outputs in itertools.pairwise(widths):
        scale = np.sqrt(1 / inputs)
        weights.append((random.normal(size=(inputs, outputs)) * scale).astype("f"))
        weights.append(np.zeros(outputs, "f"))
    return weights


def batch(widths: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels."""
    random = np.random.default_rng(1)
    x = random.random((BATCH, widths[0]), np.float32)
    return x, random.integers(0, widths[-1], BATCH).astype(np.int32)


def jax_loss(weights: Sequence[Any], x: Any, y: Any) -> Any:
    """Cross entropy, the same for Replax and for hand-written JAX."""
    import jax  # noqa: PLC0415 - each peer imports its own library only
    import jax.numpy as jnp  # noqa: PLC0415

    for matrix, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        x = jax.nn.relu(x @ matrix + bias)
    scores = jax.nn.log_softmax(x @ weights[-2] + weights[-1])
    return -jnp.mean(jnp.take_along_axis(scores, y[:, None], 1))


def replax(
    widths: Sequence[int], *, compiled: bool = True, feed: Feed | None = None
) -> Step:
    """The step of a user of Replax; always of one batch, if there is no ``feed``."""
    import jax  # noqa: PLC0415

    import replax as rx  # noqa: PLC0415

    rx.config.set_logical_device_configuration(
        rx.config.list_physical_devices("CPU")[0],
        [rx.config.LogicalDeviceConfiguration()] * REPLICAS,
    )
    strategy = rx.distribute.MirroredStrategy()
    with strategy.scope():
        weights = [rx.Variable(w) for w in initial_weights(widths)]

    def step(x: Any, y: Any) -> Any:
        values = [w.value() for w in weights]
        loss, gradients = jax.value_and_grad(jax_loss)(values, x, y)
        replica = rx.distribute.get_replica_context()
        gradients = replica.all_reduce("MEAN", gradients)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.assign_sub(RATE * gradient)
        return loss

    def train(x: Any, y: Any) -> Any:
        losses = strategy.run(step, args=(x, y))
        return strategy.reduce("MEAN", losses, axis=None)

    if compiled:
        train = rx.function(train)
    if feed is not None:
        batches = feed(strategy)
        return lambda: jax.block_until_ready(train(*next(batches)))
    rows = [np.split(part, REPLICAS) for part in batch(widths)]
    mine = strategy.experimental_distribute_values_from_function(
        lambda context: tuple(r[context.replica_id_in_sync_group] for r in rows)
    )
    return lambda: jax.block_until_ready(train(*mine))


def hand_written(widths: Sequence[int], *, feed: Feed | None = None) -> Step:
    """The step of somebody who writes `jit(shard_map)` by hand."""
    import jax  # noqa: PLC0415
    from jax.sharding import Mesh, NamedSharding  # noqa: PLC0415
    from jax.sharding import PartitionSpec as P  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", REPLICAS)
    mesh = Mesh(np.array(jax.devices()), ("replica",))

    def step(weights: Any, x: Any, y: Any) -> Any:
        loss, gradients = jax.value_and_grad(jax_loss)(weights, x, y)
        gradients = jax.lax.pmean(gradients, "replica")
        weights = [w - RATE * g for w, g in zip(weights, gradients, strict=True)]
        return weights, jax.lax.pmean(loss, "replica")

    sharded = jax.shard_map(
        step,
        mesh=mesh,
        in_specs=(P(), P("replica"), P("replica")),
        out_specs=(P(), P()),
        check_vma=False,
    )
    program = jax.jit(sharded, donate_argnums=0)
    weights = jax.device_put(initial_weights(widths), NamedSharding(mesh, P()))
    sharding = NamedSharding(mesh, P("replica"))
    always = itertools.repeat(jax.device_put(batch(widths), sharding))
    batches = always if feed is None else feed(sharding)

    def train() -> object:
        nonlocal weights
        weights, loss = program(weights, *next(batches))
        return jax.block_until_ready(loss)

    return train


def op_by_op(widths: Sequence[int]) -> Step:
    """The eager step of somebody who has nothing but JAX: what one cannot go below.

    The batch is on the devices already, nothing is checked, and the replicas take turns
    without threads; the gradients are averaged by one program.
    """
    import jax  # noqa: PLC0415
    from jax.sharding import Mesh, NamedSharding  # noqa: PLC0415
    from jax.sharding import PartitionSpec as P  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", REPLICAS)
    devices = jax.devices()
    mesh = Mesh(np.array(devices), ("replica",))
    mean = jax.jit(
        jax.shard_map(
            lambda gradients: jax.lax.pmean(gradients, "replica"),
            mesh=mesh,
            in_specs=P(),
            out_specs=P(),
            check_vma=False,
        )
    )
    rows = zip(*(np.split(part, REPLICAS) for part in batch(widths)), strict=True)
    batches = [jax.device_put(r, d) for r, d in zip(rows, devices, strict=True)]
    weights = [jax.device_put(initial_weights(widths), d) for d in devices]

    def joined(column: tuple[Any, ...]) -> Any:
        return jax.make_array_from_single_device_arrays(
            column[0].shape, NamedSharding(mesh, P()), list(column)
        )

    def train() -> object:
        losses: list[Any] = []
        gradients: list[Any] = []
        for mine, (x, y) in zip(weights, batches, strict=True):
            loss, gradient = jax.value_and_grad(jax_loss)(mine, x, y)
            losses.append(loss)
            gradients.append(gradient)
        means = mean([joined(c) for c in zip(*gradients, strict=True)])
        parts = [[s.data for s in whole.addressable_shards] for whole in means]
        for i, mine in enumerate(weights):
            weights[i] = [
                w - RATE * part[i] for w, part in zip(mine, parts, strict=True)
            ]
        there: list[Any] = [jax.device_put(loss, devices[0]) for loss in losses]
        return jax.block_until_ready(sum(there) / REPLICAS)

    return train


def tensorflow_strategy() -> Any:
    """TensorFlow's strategy for two virtual CPU devices."""
    import tensorflow as tf  # noqa: PLC0415

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0],
        [tf.config.LogicalDeviceConfiguration()] * REPLICAS,
    )
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(REPLICAS)])


def tensorflow(
    widths: Sequence[int], *, compiled: bool = True, feed: Feed | None = None
) -> Step:
    """The step of a user of tf.distribute."""
    import tensorflow as tf  # noqa: PLC0415

    strategy = tensorflow_strategy()
    with strategy.scope():
        weights = [tf.Variable(w) for w in initial_weights(widths)]

    def loss_of(x: Any, y: Any) -> Any:
        for matrix, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
            x = tf.nn.relu(x @ matrix + bias)
        scores = x @ weights[-2] + weights[-1]
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, scores))

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(x, y)
        replica = tf.distribute.get_replica_context()
        gradients = replica.all_reduce("MEAN", tape.gradient(loss, weights))
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.assign_sub(RATE * gradient)
        return loss

    def train(x: Any, y: Any) -> Any:
        losses = strategy.run(step, args=(x, y))
        return strategy.reduce("MEAN", losses, axis=None)

    if compiled:
        train = tf.function(train)
    if feed is not None:
        batches = feed(strategy)
        return lambda: train(*next(batches)).numpy()
    dataset = tf.data.Dataset.from_tensors(batch(widths)).unbatch().batch(BATCH)
    mine = next(iter(strategy.experimental_distribute_dataset(dataset)))
    return lambda: train(*mine).numpy()
