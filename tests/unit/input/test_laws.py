"""What holds for every dataset, batch size and number of replicas."""

from __future__ import annotations

import json
from typing import Any

import hypothesis
import hypothesis.strategies as st
import jax.numpy as jnp
import numpy as np

import fresh_process
import naive
import replax
from replax.data import Dataset
from replax.distribute import MirroredStrategy, Strategy

MOST_PROGRAMS = 3
_nests = st.sampled_from(["array", "pair", "dict", "deep"])


def nest_of(kind: str, rows: int) -> Any:
    numbers = np.arange(rows, dtype=np.int32)
    vectors = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
    words = np.empty(rows, object)
    words[:] = [b"w" * (i % 5) for i in range(rows)]
    return {
        "array": vectors,
        "pair": (numbers, vectors),
        "dict": {"b": words, "a": numbers},
        "deep": ((numbers, {"x": vectors}), {"y": (words, numbers > 2)}),
    }[kind]


def strategy_of(replicas: int) -> Strategy:
    return MirroredStrategy([f"CPU:{i}" for i in range(replicas)])


def rows_of(strategy: Strategy, value: Any) -> list[Any]:
    """The rows of a step, replica by replica, as the plain dataset has them."""

    def host(leaf: Any) -> Any:
        return np.asarray(leaf)

    found: list[Any] = []
    for part in strategy.experimental_local_results(value):
        found += naive.rows(naive.over_leaves(host, part))
    return found


@hypothesis.settings(max_examples=60)
@hypothesis.given(
    st.integers(0, 200),
    st.integers(1, 40),
    st.booleans(),
    st.integers(1, 8),
    _nests,
    st.sampled_from(["", "repeat", "shuffle"]),
)
def test_replicas_and_steps_give_the_dataset_in_order(
    rows: int, size: int, drop: bool, replicas: int, kind: str, then: str
) -> None:
    dataset = Dataset.from_tensor_slices(nest_of(kind, rows))
    if then == "shuffle":
        dataset = dataset.shuffle(50, seed=3, reshuffle_each_iteration=False)
    dataset = dataset.batch(size, drop_remainder=drop)
    if then == "repeat":
        dataset = dataset.repeat(2)
    wanted = [row for batch in dataset for row in naive.rows(batch)]
    strategy = strategy_of(replicas)
    distributed = strategy.experimental_distribute_dataset(dataset)
    found = [row for value in distributed for row in rows_of(strategy, value)]
    assert naive.all_same(found, wanted)


@hypothesis.settings(max_examples=8)
@hypothesis.given(
    st.integers(1, 200), st.integers(1, 40), st.booleans(), st.integers(2, 8)
)
def test_an_epoch_has_the_loss_of_one_device(
    rows: int, size: int, drop: bool, replicas: int
) -> None:
    x = np.sin(np.arange(rows * 2, dtype=np.float32)).reshape(rows, 2)
    batches = Dataset.from_tensor_slices((x, x @ np.array([2, -1], np.float32)))
    batches = batches.batch(size, drop_remainder=drop)
    (one, _), (many, programs) = (
        losses_of_an_epoch(strategy_of(n), batches) for n in (1, replicas)
    )
    np.testing.assert_allclose(many, one, rtol=2e-5, atol=1e-6)
    assert programs <= MOST_PROGRAMS


def losses_of_an_epoch(strategy: Strategy, batches: Dataset) -> tuple[list[float], int]:
    """The loss of every step, and how many programs were compiled for them."""
    with strategy.scope():
        weights = replax.Variable(jnp.zeros(2))

    def step(x: Any, y: Any, count: Any) -> Any:
        def loss_of(w: Any) -> Any:
            return jnp.sum((x @ w - y) ** 2) / count

        loss, gradient = replax_gradient(loss_of, weights.value())
        weights.assign_sub(0.1 * gradient)
        return loss

    @replax.function
    def train(x: Any, y: Any, count: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(x, y, count)), axis=None)

    losses = []
    distributed = strategy.experimental_distribute_dataset(batches)
    for plain, (x, y) in zip(batches, distributed, strict=True):
        losses.append(float(train(x, y, np.float32(len(plain[0])))))
    return losses, len(train._programs)


def replax_gradient(loss_of: Any, weights: Any) -> Any:
    import jax

    loss, gradient = jax.value_and_grad(loss_of)(weights)
    context: Any = replax.distribute.get_replica_context()
    return loss, context.all_reduce("SUM", gradient)


ROWS, SIZE, EPOCHS = 10, 4, 3

RESUME = f"""
import json, sys
import numpy as np
from replax.data import Dataset
from replax.distribute import MirroredStrategy

dataset = Dataset.range({ROWS}).shuffle({ROWS}).batch({SIZE}).repeat({EPOCHS})
found = []
for state in json.load(open("states.json")):
    for replicas in range(1, 6):
        strategy = MirroredStrategy([f"CPU:{{i}}" for i in range(replicas)])
        iterator = iter(strategy.experimental_distribute_dataset(dataset))
        iterator.set_state(state)
        rows = []
        for value in iterator:
            for part in strategy.experimental_local_results(value):
                rows += np.asarray(part).tolist()
        found.append(rows)
print(json.dumps(found))
"""


def test_any_step_is_gone_on_from_in_a_new_process_with_other_replicas(
    tmp_path: Any,
) -> None:
    dataset = Dataset.range(ROWS).shuffle(ROWS).batch(SIZE).repeat(EPOCHS)
    strategy = strategy_of(4)
    iterator = iter(strategy.experimental_distribute_dataset(dataset))
    states, given = [iterator.get_state()], [0]
    rows: list[int] = []
    for value in iterator:
        for part in strategy.experimental_local_results(value):
            rows += np.asarray(part).tolist()
        states.append(iterator.get_state())
        given.append(len(rows))
    assert sorted(rows) == sorted([*range(ROWS)] * EPOCHS)
    assert len(states) == EPOCHS * 3 + 1
    assert all(len(json.dumps(state)) < 1024 for state in states)
    (tmp_path / "states.json").write_text(json.dumps(states))
    program = fresh_process.EIGHT_DEVICES + RESUME
    found = json.loads(fresh_process.run_python("-c", program, folder=tmp_path))
    wanted = [rows[start:] for start in given for _ in range(5)]
    assert found == wanted
