"""Training on several processes gives what one process gives."""

from __future__ import annotations

import functools
import hashlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import replax
from replax.testing import current_process, run_processes

ROWS = (64, 64, 17, 0)
RATE = 0.1


def initial_weights() -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    return {
        "w": random.normal(size=(8, 4)).astype("f"),
        "v": random.normal(size=(4, 1)).astype("f"),
    }


def batch_of(replica: int, rows: int) -> np.ndarray:
    return np.random.default_rng(replica + 1).normal(size=(rows, 8)).astype("f")


def loss_of(weights: Any, x: Any, total: Any, mean: Any) -> Any:
    """A loss with a mean over all replicas in it, as batch normalisation has."""
    hidden = jnp.tanh(x @ weights["w"])
    hidden = hidden - mean(jnp.sum(hidden, 0))
    return jnp.sum((hidden @ weights["v"] - 1.0) ** 2) / total


def trained_by_one(rows: tuple[int, ...], steps: int) -> dict[str, np.ndarray]:
    """What one device makes of all rows at once."""
    x = np.concatenate([batch_of(i, n) for i, n in enumerate(rows)])
    weights: Any = initial_weights()
    gradient = jax.jit(
        jax.grad(lambda w: loss_of(w, x, len(x), lambda total: total / len(x)))
    )
    for _ in range(steps):
        weights = jax.tree.map(lambda w, g: w - RATE * g, weights, gradient(weights))
    return jax.tree.map(np.asarray, weights)


def trained_together(
    rows: tuple[int, ...], steps: int, *, compiled: bool
) -> dict[str, Any]:
    """What the replicas of all processes make of the same rows."""
    strategy = replax.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        # Each process has weights of its own, of which only those of rank 0 count.
        start = initial_weights()
        weights = replax.Variable(
            lambda: {k: w + current_process().rank for k, w in start.items()}
        )
    x = strategy.experimental_distribute_values_from_function(
        lambda c: batch_of(c.replica_id_in_sync_group, rows[c.replica_id_in_sync_group])
    )

    def step(x: Any) -> Any:
        context: Any = replax.distribute.get_replica_context()

        def mean(part: Any) -> Any:
            return context.all_reduce("SUM", part) / sum(rows)

        def loss(values: Any) -> Any:
            return loss_of(values, x, sum(rows), mean)

        value, gradients = jax.value_and_grad(loss)(weights.read_value())
        gradients = context.all_reduce("SUM", gradients)
        new = jax.tree.map(lambda w, g: w - RATE * g, weights.read_value(), gradients)
        weights.assign(new)
        return value

    def train(x: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(x,)), axis=None)

    program = replax.function(train) if compiled else train
    losses = [float(program(x)) for _ in range(steps)]
    return {"weights": weights.numpy(), "losses": losses}


def test_uneven_steps_with_a_mean_in_the_forward_pass_equal_those_of_one_device() -> (
    None
):
    train = functools.partial(trained_together, ROWS, 3, compiled=True)
    results = run_processes(2, train, devices=2, timeout=240).values
    expected = trained_by_one(ROWS, 3)
    for result in results:
        assert result["losses"] == results[0]["losses"]
        for name, weight in expected.items():
            np.testing.assert_allclose(result["weights"][name], weight, atol=1e-6)


def test_three_processes_train_as_one_compiled_and_eagerly() -> None:
    def both() -> list[dict[str, Any]]:
        return [
            trained_together((5, 2, 9), 3, compiled=True),
            trained_together((5, 2, 9), 2, compiled=False),
        ]

    results = run_processes(3, both, timeout=240).values
    for steps, expected in (
        (0, trained_by_one((5, 2, 9), 3)),
        (1, trained_by_one((5, 2, 9), 2)),
    ):
        for result in results:
            for name, weight in expected.items():
                got = result[steps]["weights"][name]
                np.testing.assert_allclose(got, weight, atol=1e-6)
                # Not only nearly: the copies must not drift apart.
                assert got.tobytes() == results[0][steps]["weights"][name].tobytes()


def seen_by_a_worker() -> dict[str, Any]:
    """What is seen of values and variables of two workers with two devices each."""
    strategy = replax.distribute.MultiWorkerMirroredStrategy()
    rank = current_process().rank
    seen: dict[str, Any] = {
        "text": repr(strategy),
        "task": strategy.cluster_resolver.task_id,
    }
    Variable = replax.Variable
    local: Any = {
        "synchronization": replax.VariableSynchronization.ON_READ,
        "aggregation": replax.VariableAggregation.SUM,
    }
    with strategy.scope():
        random = Variable(lambda: np.random.default_rng().normal(size=3).astype("f"))
        key = Variable(jax.random.key(rank))
        special = Variable(
            np.array([np.nan, -0.0, np.inf], "f") if rank == 0 else np.ones(3, "f")
        )
        counted = Variable(0, **local)
        first = Variable(0.0, aggregation=replax.VariableAggregation.ONLY_FIRST_REPLICA)

    ids = strategy.experimental_distribute_values_from_function(
        lambda c: np.float32(c.replica_id_in_sync_group)
    )
    rows = strategy.experimental_distribute_values_from_function(
        lambda c: np.full((c.replica_id_in_sync_group, 2), 1.0, np.float32)
    )
    if rank == 0:  # to look at something must not wait for others
        seen["looks"] = [repr(x) for x in (ids, rows, random, counted, key, strategy)]

    @replax.function
    def step(i: Any) -> Any:
        def on_replica(i: Any) -> Any:
            counted.assign_add(jnp.int32(i))
            first.assign(i + 7.0)
            context: Any = replax.distribute.get_replica_context()
            drawn = jax.random.uniform(context.prng_key())
            return context.all_gather(i[None], axis=0), drawn

        return strategy.run(on_replica, args=(i,))

    gathered, drawn = step(ids)
    seen["gathered"] = [
        np.asarray(x) for x in strategy.experimental_local_results(gathered)
    ]
    seen["random"] = random.numpy()
    seen["key"] = np.asarray(jax.random.key_data(key.read_value()))
    seen["special"] = special.numpy().tobytes()
    seen["counted"] = int(counted.numpy())
    seen["first"] = float(first.numpy())
    seen["local"] = len(strategy.experimental_local_results(ids))
    seen["drawn"] = np.asarray(strategy.experimental_local_results(drawn))
    seen["reduced"] = [
        np.asarray(strategy.reduce("SUM", ids, axis=None)),
        np.asarray(strategy.reduce("MEAN", rows, axis=0)),
        np.asarray(strategy.gather(rows, axis=0)),
    ]
    # Components of a traced value are there in a host program only.
    total = replax.function(
        lambda x: sum(float(v) for v in strategy.experimental_local_results(x))
    )
    seen["components"] = total(ids)
    return seen


def test_values_and_variables_are_one_on_all_workers() -> None:
    one, other = run_processes(2, seen_by_a_worker, devices=2, timeout=240).values
    assert one["text"] == "MultiWorkerMirroredStrategy(CPU:0, CPU:1 of rank 0 of 2)"
    assert (one["task"], other["task"]) == (0, 1)
    np.testing.assert_array_equal(one["random"], other["random"])
    np.testing.assert_array_equal(one["key"], jax.random.key_data(jax.random.key(0)))
    np.testing.assert_array_equal(other["key"], one["key"])
    special = np.array([np.nan, -0.0, np.inf], np.float32).tobytes()
    assert one["special"] == other["special"] == special
    assert len(one["looks"]) == 6
    drawn = np.concatenate([one["drawn"], other["drawn"]])
    assert len(set(drawn.tolist())) == 4
    assert (one["components"], other["components"]) == (1.0, 5.0)
    for seen in (one, other):
        assert seen["counted"] == 6
        assert seen["first"] == 7.0
        assert seen["local"] == 2
        for gathered in seen["gathered"]:
            np.testing.assert_array_equal(gathered, [0, 1, 2, 3])
        total, mean, rows = seen["reduced"]
        assert total == 6
        np.testing.assert_array_equal(mean, [1, 1])
        np.testing.assert_array_equal(rows, np.ones((6, 2)))


def digests_of_sums() -> list[str]:
    strategy = replax.distribute.MultiWorkerMirroredStrategy(
        communication_options=replax.distribute.experimental.CommunicationOptions(
            bytes_per_pack=1 << 20
        )
    )
    x = strategy.experimental_distribute_values_from_function(
        lambda c: [
            np.random.default_rng(c.replica_id_in_sync_group).normal(size=n).astype("f")
            for n in (1, 1000, 70_000, 2_000_000)
        ]
    )

    @replax.function
    def step(x: Any) -> Any:
        def on_replica(x: Any) -> Any:
            context: Any = replax.distribute.get_replica_context()
            return context.all_reduce("SUM", x)

        return strategy.run(on_replica, args=(x,))

    return [
        hashlib.blake2b(np.asarray(part).tobytes()).hexdigest()
        for total in step(x)
        for part in strategy.experimental_local_results(total)
    ]


def test_sums_have_the_same_bits_on_every_worker() -> None:
    results = run_processes(3, digests_of_sums, timeout=240).values
    assert results == [results[0]] * 3
