"""Compiled runs: what a step may do, and that uneven replicas change no number."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

import replax
from fresh_process import EIGHT_DEVICES, run_python
from replax.distribute import (
    REPLICA_AXIS,
    MirroredStrategy,
    PerReplica,
    RunOptions,
    get_replica_context,
)


def on(count: int) -> MirroredStrategy:
    return MirroredStrategy([f"CPU:{i}" for i in range(count)])


def split(strategy: MirroredStrategy, array: Any, rows: Any) -> PerReplica:
    """Consecutive rows for each replica."""
    ends = np.cumsum(rows)
    return strategy.experimental_distribute_values_from_function(
        lambda c: array[
            ends[c.replica_id_in_sync_group] - rows[c.replica_id_in_sync_group] : ends[
                c.replica_id_in_sync_group
            ]
        ]
    )


def local(strategy: MirroredStrategy, value: Any) -> list[Any]:
    return [np.asarray(x).tolist() for x in strategy.experimental_local_results(value)]


_OTHER_STRINGS = """
import jax.numpy as jnp, numpy as np, replax

devices = [f"CPU:{{i}}" for i in range({replicas})]
strategy = replax.distribute.MirroredStrategy(devices)
names = np.array([f"row {{i}}" for i in range(11)])
rows = {{"name": names, "x": np.arange(11.0)}}
data = replax.data.Dataset.from_tensor_slices(rows).batch(4)
traces = []

@replax.function
def train(batch):
    def step(batch):
        traces.append(None)
        return batch["name"], jnp.sum(batch["x"])

    return strategy.run(step, args=(batch,))

batches = list(strategy.experimental_distribute_dataset(data))
for batch in (batches[0], batches[2]) * 2:
    train(batch)
used = len(traces)
results = [train(batch) for batch in batches]
found = [strategy.gather(result[0], axis=0).tolist() for result in results]
assert found == [b.tolist() for b in np.split(names, [4, 8])]
assert [train(batch)[0] is batch["name"] for batch in batches] == [True] * 3
# Nor is it for the same shapes with strings that were not there before.
train({{"name": batches[1]["name"], "x": batches[0]["x"]}})
assert len(traces) == used, (len(traces), used)
"""


class TestForm:
    def test_one_call_for_all_replicas(self) -> None:
        strategy, calls = on(4), []

        @replax.function
        def train(x: Any) -> Any:
            def step(y: Any) -> Any:
                calls.append(y.shape)
                return y + get_replica_context().replica_id_in_sync_group

            return strategy.run(step, args=(x,))

        value = split(strategy, np.arange(8.0), [2] * 4)
        assert local(strategy, train(value)) == [[0, 1], [3, 4], [6, 7], [9, 10]]
        assert local(strategy, train(value)) == [[0, 1], [3, 4], [6, 7], [9, 10]]
        assert calls == [(2,)]

    def test_the_body_is_traced_once_for_all_shapes(self) -> None:
        strategy, bodies, steps = on(3), [], []

        @replax.function
        def train(x: Any) -> Any:
            bodies.append(1)

            def step(y: Any) -> Any:
                steps.append(y.shape)
                return 2 * y

            doubled = strategy.run(step, args=(x,))
            return doubled, strategy.reduce("SUM", doubled, axis=0)

        for rows in ([2, 2, 2], [2, 1, 0], [0, 2, 1], [1, 1, 1], [1, 1, 0]):
            value = split(strategy, np.arange(6.0), rows)
            doubled, total = train(value)
            assert [len(part) for part in local(strategy, doubled)] == rows
            assert float(total) == 2 * sum(range(sum(rows)))
        assert bodies == [1]
        assert steps == [(2,), (2,), (1,), (0,), (1,), (1,), (0,)]

    def test_a_body_that_looks_at_shapes_is_traced_again(self) -> None:
        strategy, bodies = on(2), []

        @replax.function
        def train(x: Any) -> Any:
            bodies.append(1)
            doubled = strategy.run(lambda y: 2 * y, args=(x,))
            return strategy.gather(doubled, axis=0) + 1

        for rows in ([2, 2], [3, 3], [4, 2]):
            value = split(strategy, np.arange(6.0), rows)
            expected = 2 * np.arange(float(sum(rows))) + 1
            np.testing.assert_array_equal(train(value), expected)
        assert len(bodies) == 2  # as many rows in the last call as in the one before

    def test_nests_keywords_and_plain_values(self) -> None:
        strategy = on(2)
        value = split(strategy, np.arange(4.0), [2, 2])

        @replax.function
        def train(nest: Any, scale: Any) -> Any:
            def step(nest: Any, *, scale: Any, label: str, flag: bool) -> Any:
                assert flag is True
                return {"y": nest["x"][0] * scale, "label": label, "none": None}

            return strategy.run(
                step, (nest,), {"scale": scale, "label": "a", "flag": True}
            )

        result = train({"x": (value, 3)}, jnp.float32(10))
        assert local(strategy, result["y"]) == [[0, 10], [20, 30]]
        assert (result["label"], result["none"]) == ("a", None)

    def test_strings_pass_through(self) -> None:
        strategy = on(2)
        names = strategy.experimental_distribute_values_from_function(
            lambda c: np.array([f"r{c.replica_id_in_sync_group}"])
        )

        @replax.function
        def train(names: Any) -> Any:
            return strategy.run(lambda n: (n, jnp.ones(())), args=(names,))

        passed, ones = train(names)
        assert passed is names
        assert local(strategy, ones) == [1, 1]

    @pytest.mark.parametrize("replicas", [1, 2, 3])
    def test_other_strings_are_no_other_program(self, replicas: int) -> None:
        # By itself: what code has looked at strings is known of the whole process.
        run_python("-c", EIGHT_DEVICES + _OTHER_STRINGS.format(replicas=replicas))

    @pytest.mark.parametrize(
        "look",
        [
            lambda names: np.char.str_len(names),  # noqa: PLW0108
            lambda names: np.array([len(name) for name in names]),
            lambda names: np.full(names.shape, len(names[0])),
            lambda names: np.vectorize(len)(names) * (names != ""),
        ],
        ids=["function", "loop", "attributes", "operator"],
    )
    def test_a_program_depends_on_strings_it_looks_at(self, look: Any) -> None:
        @replax.function
        def lengths(names: Any, x: Any) -> Any:
            return names, look(names) + x

        for word in ("one", "three", "one"):
            names = np.array([word, word])
            passed, found = lengths(names, jnp.ones(2))
            assert passed is names
            assert found.tolist() == [len(word) + 1] * 2

    def test_the_components_of_strings_are_those_of_the_call(self) -> None:
        strategy = on(2)

        @replax.function
        def lengths(names: Any) -> Any:
            return [len(n) for n in strategy.experimental_local_results(names)]

        for words in (["a", "bcd"], ["efgh", "i"]):
            names = replax.distribute.PerReplica(words)
            assert lengths(names) == [len(word) for word in words]

    @pytest.mark.parametrize("use", [jnp.asarray, lambda n: n + 1, list, jnp.sum])
    def test_nothing_else_can_be_done_with_strings(self, use: Any) -> None:
        strategy = on(2)
        names = strategy.experimental_distribute_values_from_function(
            lambda c: f"r{c.replica_id_in_sync_group}"
        )

        @replax.function
        def train(batch: Any) -> Any:
            return strategy.run(lambda b: use(b["name"]), args=(batch,))

        message = r"argument \[0\]\['name'\].*'r0' \(a str\).*stays on the host"
        with pytest.raises(TypeError, match=message):
            train({"name": names})

    def test_runs_chain(self) -> None:
        strategy = on(2)

        @replax.function
        def train(x: Any) -> Any:
            a = strategy.run(lambda y: y + 1, args=(x,))
            b = strategy.run(lambda y, z: y * z, args=(x, a))
            mean = strategy.reduce("MEAN", b, axis=0)
            return strategy.run(lambda y, m: y - m, args=(b, mean))

        value = split(strategy, np.arange(3.0), [2, 1])
        expected = np.array([0.0, 2.0, 6.0]) - 8 / 3
        result = strategy.gather(train(value), axis=0)
        np.testing.assert_allclose(result, expected, rtol=1e-6)

    def test_a_function_given_to_run_is_compiled(self) -> None:
        strategy, calls = on(2), []

        @replax.function
        def step(x: Any) -> Any:
            calls.append(1)
            return x * 2

        for scale in (1.0, 2.0):
            value = split(strategy, scale * np.arange(4.0), [2, 2])
            result = local(strategy, strategy.run(step, args=(value,)))
            assert result == [[0, 2 * scale], [4 * scale, 6 * scale]]
        assert calls == [1]

    def test_an_error_keeps_its_class(self) -> None:
        strategy = on(2)

        def fail() -> None:
            message = "mine"
            raise KeyError(message)

        with pytest.raises(KeyError, match="mine"):
            replax.function(lambda: strategy.run(fail))()
        assert local(strategy, strategy.run(replax.function(lambda: jnp.ones(()))))

    def test_misuse_is_refused(self) -> None:
        strategy, other = on(2), on(3)

        def nested() -> Any:
            return strategy.run(lambda: 1)

        def scoped() -> Any:
            with strategy.scope():
                return 1

        def reduced() -> Any:
            return strategy.reduce("SUM", jnp.ones(2), axis=0)

        for bad in (nested, scoped, reduced):
            with pytest.raises(RuntimeError, match="inside of a step"):
                replax.function(lambda bad=bad: strategy.run(bad))()
        with other.scope(), pytest.raises(RuntimeError, match="do not nest"):
            replax.function(lambda: strategy.run(lambda: 1))()
        with pytest.raises(
            RuntimeError, match=r"replax\.function in place of jax\.jit"
        ):
            jax.jit(lambda x: strategy.run(lambda: x))(1.0)


class TestReplicaContext:
    def test_random_numbers_are_those_of_an_eager_run(self) -> None:
        strategy = on(2)

        def draw() -> Any:
            context = get_replica_context()
            return [jax.random.uniform(context.prng_key()) for _ in range(2)]

        def numbers(run: Any) -> np.ndarray:
            strategy.set_seed(7)
            return np.array(
                [[local(strategy, x) for x in run()] for _ in range(3)], np.float64
            )

        eager = numbers(lambda: strategy.run(draw))
        compiled = numbers(replax.function(lambda: strategy.run(draw)))
        np.testing.assert_array_equal(eager, compiled)
        assert len(np.unique(eager)) == eager.size  # steps, draws and replicas differ

    def test_each_run_of_a_program_draws_other_numbers(self) -> None:
        strategy = on(2)

        def draw() -> Any:
            return jax.random.uniform(get_replica_context().prng_key())

        def twice() -> Any:
            return strategy.run(draw), strategy.run(draw)

        def numbers(run: Any) -> np.ndarray:
            strategy.set_seed(7)
            return np.array([[local(strategy, x) for x in run()] for _ in range(2)])

        eager = numbers(twice)
        np.testing.assert_array_equal(eager, numbers(replax.function(twice)))
        assert len(np.unique(eager)) == eager.size

    def test_what_is_one_object_comes_back_as_one_value(self) -> None:
        strategy, captured = on(3), jnp.ones(2)

        @replax.function
        def train(x: Any, n: Any) -> Any:
            return strategy.run(lambda y, m: (y, m, captured, y + 0, x), args=(x, n))

        one, n, kept, own, outer = train(jnp.zeros(2), np.arange(3))
        assert all(isinstance(v, jax.Array) for v in (one, n, kept, outer))
        np.testing.assert_array_equal(n, [0, 1, 2])
        assert local(strategy, own) == [[0, 0]] * 3

    def test_numbers_that_all_replicas_have_stay_numbers(self) -> None:
        strategy, seen = on(2), []

        def step(same: Any, other: Any) -> Any:
            seen.append((type(same), isinstance(other, jax.Array)))
            return same * other

        @replax.function
        def train() -> Any:
            make = strategy.experimental_distribute_values_from_function
            same = make(lambda c: c.num_replicas_in_sync)
            other = make(lambda c: c.replica_id_in_sync_group)
            return strategy.run(step, (same, other))

        assert local(strategy, train()) == [0, 2]
        assert seen == [(int, True)]

    def test_merge_call_is_called_once(self) -> None:
        strategy, calls = on(3), []
        with strategy.scope():
            v = replax.Variable(0.0)

        def merged(owner: Any, x: Any, *, scale: float) -> Any:
            calls.append(replax.distribute.get_replica_context())
            total = owner.reduce("SUM", x, axis=None)
            v.assign(total)
            return total * scale, x

        @replax.function
        def train() -> Any:
            def step() -> Any:
                context = get_replica_context()
                x = context.replica_id_in_sync_group * 1.0
                return context.merge_call(merged, (x,), {"scale": 10.0})

            return strategy.run(step)

        total, back = train()
        assert float(total) == 30
        assert local(strategy, back) == [0, 1, 2]
        assert v.numpy() == 3
        assert calls == [None]

    def test_gradients_through_all_reduce_are_all_reduced(self) -> None:
        strategy = on(4)

        @replax.function
        def gradients(op: str) -> Any:
            def step() -> Any:
                context = get_replica_context()
                i = context.replica_id_in_sync_group + 1.0
                return jax.grad(lambda w: context.all_reduce(op, w * i) ** 2 / 2)(1.0)

            return strategy.run(step)

        # d/dw of (sum w_j)^2 / 2 on each replica, summed over the replicas.
        assert local(strategy, gradients("SUM")) == [40, 80, 120, 160]
        assert local(strategy, gradients("MEAN")) == [2.5, 5, 7.5, 10]

    @pytest.mark.parametrize("rows", [[2, 2, 2], [3, 1, 0], [0, 0, 0]])
    def test_all_gather_and_its_gradient(self, rows: list[int]) -> None:
        strategy = on(3)
        total = sum(rows)
        value = split(strategy, np.arange(6.0, dtype=np.float32), rows)

        @replax.function
        def train(x: Any) -> Any:
            def step(x: Any) -> Any:
                context = get_replica_context()

                def loss(x: Any) -> Any:
                    everything = context.all_gather(x, axis=0)
                    weights = jnp.arange(total) + 1.0
                    return (weights * everything).sum()

                return context.all_gather(x, axis=0), jax.grad(loss)(x)

            return strategy.run(step, args=(x,))

        everything, gradient = train(value)
        assert local(strategy, everything) == [list(range(total))] * 3
        found = np.concatenate(local(strategy, gradient))
        np.testing.assert_array_equal(found, 3 * (np.arange(total) + 1.0))


class TestVariables:
    def test_unreduced_assignments_are_refused(self) -> None:
        strategy = on(2)
        with strategy.scope():
            v = replax.Variable(jnp.ones(2), name="weights")
        x = split(strategy, np.arange(4.0, dtype=np.float32), [2, 2])

        def wrong(x: Any) -> None:
            gradient = jax.grad(lambda w: (w * x).sum())(v.read_value())
            v.assign_sub(gradient)

        def right(x: Any) -> None:
            gradient = jax.grad(lambda w: (w * x).sum())(v.read_value())
            v.assign_sub(get_replica_context().all_reduce("MEAN", gradient))

        message = (
            r"'weights' has no aggregation.*test_step\.py:\d+ \(wrong\).*all_reduce"
        )
        for form in (lambda f: f, replax.function):
            with pytest.raises(ValueError, match=message):
                strategy.run(form(wrong), args=(x,))
            np.testing.assert_array_equal(v.numpy(), [1, 1])
            strategy.run(form(right), args=(x,))
            np.testing.assert_array_equal(v.numpy(), [0, -1])
            v.assign([1.0, 1.0])

    def test_they_can_be_allowed(self) -> None:
        strategy = on(2)
        with strategy.scope():
            v = replax.Variable(0.0)

        def drift() -> None:
            v.assign(get_replica_context().replica_id_in_sync_group * 1.0)

        options = RunOptions(may_diverge=True)
        replax.function(lambda: strategy.run(drift, options=options))()
        assert local(strategy, v) == [0, 1]

    def test_a_condition_that_differs_may_not_decide_who_meets(self) -> None:
        strategy = on(2)

        def step() -> Any:
            context = get_replica_context()
            mine = context.replica_id_in_sync_group == 0
            return lax.cond(mine, lambda: context.all_reduce("SUM", 1.0), lambda: 0.0)

        with pytest.raises(ValueError, match=r"under a condition.*test_step\.py"):
            replax.function(lambda: strategy.run(step))()

    def test_on_read_variables_are_local(self) -> None:
        strategy = on(3)
        with strategy.scope():
            rows = replax.Variable(
                0,
                synchronization=replax.VariableSynchronization.ON_READ,
                aggregation=replax.VariableAggregation.SUM,
            )

        @replax.function
        def count(x: Any) -> Any:
            strategy.run(lambda y: rows.assign_add(y.shape[0]), args=(x,))
            return rows.read_value()

        for sizes, total in (([2, 2, 2], 6), ([2, 1, 0], 9), ([0, 0, 1], 10)):
            value = split(strategy, np.zeros(6), sizes)
            assert int(count(value)) == total
        assert local(strategy, rows) == [4, 3, 3]

    def test_values_handed_out_outlive_donating_steps(self) -> None:
        strategy = on(2)
        with strategy.scope():
            v = replax.Variable([1.0, 2.0])
        step = replax.function(lambda: strategy.run(lambda: v.assign_add(jnp.ones(2))))
        step()
        handed = [v.read_value(), *strategy.experimental_local_results(v)]
        seen: list[Any] = []
        strategy.run(lambda: seen.append(v.read_value()))
        step()
        step()
        for value in handed + seen:
            np.testing.assert_array_equal(value, [2, 3])
        assert local(strategy, v) == [[4, 5], [4, 5]]

    def test_eager_and_compiled_steps_mix(self) -> None:
        strategy = on(2)
        with strategy.scope():
            v = replax.Variable(0.0, aggregation=replax.VariableAggregation.SUM)

        def step() -> None:
            v.assign_add(get_replica_context().replica_id_in_sync_group + 1.0)

        for run in (step, replax.function(step), step, replax.function(step)):
            strategy.run(run)
        assert local(strategy, v) == [12, 12]


def normalized(h: Any, context: Any) -> Any:
    """Normalizes by the mean and variance of all replicas' rows."""
    count, first, second = context.all_reduce(
        "SUM", (jnp.asarray(h.shape[0], h.dtype), h.sum(0), (h * h).sum(0))
    )
    mean = first / count
    return (h - mean) * lax.rsqrt(second / count - mean * mean + 1e-3)


class Trainer:
    """Three layers with batch normalization, trained on any number of replicas."""

    def __init__(self, count: int, widths: tuple[int, ...]) -> None:
        rng = np.random.default_rng(0)
        self.strategy = on(count)
        with self.strategy.scope():
            self.weights = replax.Variable(
                [
                    rng.normal(size=(a, b)) / np.sqrt(a)
                    for a, b in itertools.pairwise(widths)
                ]
            )

    def step(self, x: Any, y: Any) -> Any:
        context = get_replica_context()
        count = context.all_reduce("SUM", x.shape[0])

        def loss(weights: Any) -> Any:
            h = x
            for w in weights[:-1]:
                h = jax.nn.relu(normalized(h @ w, context))
            return ((h @ weights[-1] - y) ** 2).sum() / count

        value, gradient = jax.value_and_grad(loss)(self.weights.read_value())
        gradient = context.all_reduce("SUM", gradient)
        self.weights.assign_sub(jax.tree.map(lambda g: 0.1 * g, gradient))
        return value

    @replax.function
    def train(self, x: Any, y: Any) -> Any:
        losses = self.strategy.run(self.step, args=(x, y))
        return self.strategy.reduce("SUM", losses, axis=None)

    def epoch(self, batches: list[Any]) -> tuple[list[float], list[np.ndarray]]:
        losses = [
            float(self.train(*(split(self.strategy, a, rows) for a in arrays)))
            for *arrays, rows in batches
        ]
        return losses, self.weights.numpy()


WIDTHS = (5, 7, 6, 2)


def batches_of(rows: list[list[int]], dtype: Any) -> list[Any]:
    rng = np.random.default_rng(1)
    return [
        (
            rng.normal(size=(sum(r), WIDTHS[0])).astype(dtype),
            rng.normal(size=(sum(r), WIDTHS[-1])).astype(dtype),
            r,
        )
        for r in rows
    ]


class TestUnevenReplicas:
    @settings(max_examples=8)
    @given(st.data())
    def test_training_is_that_of_one_device(self, data: st.DataObject) -> None:
        count = data.draw(st.integers(2, 4))
        step = st.lists(st.integers(0, 5), min_size=count, max_size=count).filter(any)
        rows = data.draw(st.lists(step, min_size=1, max_size=3))
        with jax.enable_x64(True):
            batches = batches_of(rows, np.float64)
            alone = [(x, y, [sum(r)]) for x, y, r in batches]
            losses, weights = Trainer(count, WIDTHS).epoch(batches)
            expected_losses, expected = Trainer(1, WIDTHS).epoch(alone)
        np.testing.assert_allclose(losses, expected_losses, rtol=1e-11, atol=1e-12)
        for found, wanted in zip(weights, expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)

    def test_in_single_precision(self) -> None:
        batches = batches_of([[64, 64, 64], [64, 17, 0]], np.float32)
        alone = [(x, y, [sum(r)]) for x, y, r in batches]
        losses, weights = Trainer(3, WIDTHS).epoch(batches)
        expected_losses, expected = Trainer(1, WIDTHS).epoch(alone)
        np.testing.assert_allclose(losses, expected_losses, rtol=1e-5, atol=1e-6)
        for found, wanted in zip(weights, expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)

    def test_one_program_for_a_set_of_shapes(self) -> None:
        trainer = Trainer(3, WIDTHS)
        calls: list[int] = []
        step = trainer.step

        def counted(x: Any, y: Any) -> Any:
            calls.append(len(x))
            return step(x, y)

        trainer.step = counted
        arrangements = [[3, 2, 0], [0, 3, 2], [2, 0, 3], [3, 0, 2]]
        trainer.epoch(batches_of(arrangements, np.float32))
        assert sorted(calls) == [0, 2, 3]

    def test_different_meetings_are_refused(self) -> None:
        strategy = on(2)

        def step(x: Any) -> Any:
            if x.shape[0] == 0:
                return jnp.zeros(())
            return get_replica_context().all_reduce("SUM", x.sum())

        value = split(strategy, np.ones(2, np.float32), [2, 0])
        with pytest.raises(ValueError, match=r"test_step\.py"):
            replax.function(lambda x: strategy.run(step, args=(x,)))(value)

    def test_different_structures_are_refused(self) -> None:
        strategy = on(2)
        value = split(strategy, np.ones(2, np.float32), [2, 0])
        with pytest.raises(ValueError, match="same structure"):
            replax.function(lambda x: strategy.run(lambda y: [y] * len(y), args=(x,)))(
                value
            )


class TestKeysOfRandomNumbers:
    def test_they_are_arguments_captures_and_results(self) -> None:
        strategy = on(2)
        keys = [jax.random.fold_in(jax.random.key(0), i) for i in range(2)]
        per_replica = strategy.experimental_distribute_values_from_function(
            lambda c: keys[c.replica_id_in_sync_group]
        )
        captured = jax.random.key(1)

        @replax.function
        def draw(key: Any, own: Any) -> Any:
            def step(key: Any, own: Any) -> Any:
                noise = [jax.random.uniform(k) for k in (key, own, captured)]
                return noise, jax.random.split(own)[0]

            return strategy.run(step, args=(key, own))

        noise, following = draw(keys[0], per_replica)
        for replica in range(2):
            expected = [float(jax.random.uniform(k)) for k in (keys[0], keys[replica])]
            found = [local(strategy, x)[replica] for x in noise]
            assert found == [*expected, float(jax.random.uniform(captured))]
            drawn = strategy.experimental_local_results(following)[replica]
            assert drawn == jax.random.split(keys[replica])[0]


class TestOperationsOfLax:
    @pytest.mark.parametrize("replicas", [1, 2, 3])
    def test_over_the_replica_axis(self, replicas: int) -> None:
        strategy = on(replicas)
        with strategy.scope():
            v = replax.Variable(0.0)

        @replax.function
        def train(x: Any) -> Any:
            def step(x: Any) -> Any:
                total, slope = jax.value_and_grad(
                    lambda x: jax.lax.psum(jnp.sum(x * x), REPLICA_AXIS)
                )(x)
                v.assign(total)
                rows = jax.lax.all_gather(jnp.sum(x), REPLICA_AXIS)
                own = rows[jax.lax.axis_index(REPLICA_AXIS)]
                return {"slope": slope, "rows": jnp.sum(rows), "own": own}

            return strategy.run(step, args=(x,))

        numbers = np.arange(5.0)
        data = replax.data.Dataset.from_tensor_slices(numbers).batch(4)
        batches = strategy.experimental_distribute_dataset(data)
        for x, whole in zip(batches, (numbers[:4], numbers[4:]), strict=True):
            parts = strategy.experimental_local_results(train(x))
            given = strategy.experimental_local_results(x)
            assert v.numpy() == np.sum(whole * whole)
            for part, rows in zip(parts, given, strict=True):
                assert part["rows"] == np.sum(whole)
                assert part["own"] == jnp.sum(rows)
                assert part["slope"].shape == rows.shape

    @pytest.mark.parametrize("replicas", [1, 2])
    def test_in_an_eager_step_it_is_said_what_to_write(self, replicas: int) -> None:
        with pytest.raises(NameError, match="unbound axis name") as raised:
            on(replicas).run(lambda: jax.lax.psum(1.0, REPLICA_AXIS))
        notes = "".join(raised.value.__notes__)
        assert "wrap what calls strategy.run in replax.function" in notes
