"""`reduce` and `gather`, between steps, in functions and in merge_call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax import VariableAggregation, VariableSynchronization
from replax.distribute import (
    Mirrored,
    MirroredStrategy,
    OneDeviceStrategy,
    PerReplica,
    ReduceOp,
    Strategy,
)
from running import context, parts, replica

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def strategy() -> MirroredStrategy:
    return MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])


def now(function: Call, *args: Any) -> Any:
    return function(*args)


def in_function(function: Call, *args: Any) -> Any:
    return replax.function(function)(*args)


@pytest.fixture(params=[now, in_function], ids=["now", "in a function"])
def called(request: pytest.FixtureRequest) -> Call:
    return request.param


def spread(strategy: Strategy, *values: Any) -> Any:
    return strategy.experimental_distribute_values_from_function(
        lambda c: values[c.replica_id_in_sync_group]
    )


ROWS = [np.arange(6.0, dtype=np.float32).reshape(2, 3) + 10 * i for i in range(3)]


class TestReduce:
    @pytest.mark.parametrize("op", ["SUM", "MEAN"])
    @pytest.mark.parametrize("axis", [None, 0, 1, -1, -2, (0, 1), (1, 0), [1], ()])
    def test_axes(
        self, strategy: MirroredStrategy, called: Call, op: str, axis: Any
    ) -> None:
        stack = np.stack(ROWS)
        axes = (
            () if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
        )
        over = (0, *(a % 2 + 1 for a in axes))
        wanted = stack.sum(over) if op == "SUM" else stack.mean(over)
        found = called(lambda v: strategy.reduce(op, v, axis), spread(strategy, *ROWS))
        np.testing.assert_allclose(found, wanted, rtol=1e-6)

    @pytest.mark.parametrize("op", ["sum", "SUM", "Sum", ReduceOp.SUM])
    def test_spellings_of_the_operation(
        self, strategy: MirroredStrategy, op: Any
    ) -> None:
        assert int(strategy.reduce(op, PerReplica([1, 2, 3]), None)) == 6

    @pytest.mark.parametrize("op", ["AVG", "", None, 3])
    def test_an_unknown_operation_is_named(
        self, strategy: MirroredStrategy, op: Any
    ) -> None:
        with pytest.raises(ValueError, match="is not a way to reduce; give") as raised:
            strategy.reduce(op, PerReplica([1, 2, 3]), None)
        assert repr(op) in str(raised.value)

    @pytest.mark.parametrize("axis", [2, -3, (0, 5)])
    def test_an_axis_out_of_range(
        self, strategy: MirroredStrategy, called: Call, axis: Any
    ) -> None:
        with pytest.raises(ValueError, match=r"shape \(2, 3\) on each replica, which"):
            called(lambda v: strategy.reduce("SUM", v, axis), spread(strategy, *ROWS))

    @pytest.mark.parametrize("axis", [(0, 0), (0, -2)])
    def test_an_axis_named_twice(self, strategy: MirroredStrategy, axis: Any) -> None:
        with pytest.raises(ValueError, match="names an axis twice"):
            strategy.reduce("SUM", spread(strategy, *ROWS), axis)

    @pytest.mark.parametrize("axis", [1.0, "0", (0, None)])
    def test_an_axis_of_another_type(
        self, strategy: MirroredStrategy, axis: Any
    ) -> None:
        with pytest.raises(TypeError, match="give None, an integer, or a tuple"):
            strategy.reduce("SUM", spread(strategy, *ROWS), axis)

    def test_a_scalar_has_no_axis(self, strategy: MirroredStrategy) -> None:
        with pytest.raises(ValueError, match="use axis=None"):
            strategy.reduce("SUM", PerReplica([1.0, 2.0, 3.0]), 0)

    @pytest.mark.parametrize(
        ("values", "total", "mean"),
        [
            ([1, 2, 4], 7, 7 / 3),
            ([True, False, True], 2, 2 / 3),
            ([0.5, 1.5, 1.0], 3, 1),
            ([1j, 1 + 0j, 1 + 0j], 2 + 1j, (2 + 1j) / 3),
            ([np.int8(100)] * 3, 44, 100),
            ([np.uint8(255)] * 3, 253, 255),
            ([np.float16(60000)] * 3, np.inf, 60000),
        ],
    )
    def test_dtypes(
        self, strategy: MirroredStrategy, values: Any, total: Any, mean: Any
    ) -> None:
        value = PerReplica(values)
        assert strategy.reduce("SUM", value, None) == total
        np.testing.assert_allclose(
            strategy.reduce("MEAN", value, None), mean, rtol=1e-6
        )

    def test_a_sum_keeps_its_dtype_and_a_mean_of_integers_is_true(
        self, strategy: MirroredStrategy, called: Call
    ) -> None:
        for dtype in ("int8", "float32", "bfloat16"):
            value = spread(strategy, *[jnp.ones(2, dtype)] * 3)
            assert called(lambda v: strategy.reduce("SUM", v, 0), value).dtype == dtype
            mean = called(lambda v: strategy.reduce("MEAN", v, 0), value)
            is_float = jnp.issubdtype(jnp.dtype(dtype), jnp.inexact)
            assert mean.dtype == (dtype if is_float else "float32")

    def test_partial_and_empty_replicas_are_weighed_by_their_rows(
        self, strategy: MirroredStrategy, called: Call
    ) -> None:
        value = spread(strategy, jnp.arange(4.0), jnp.arange(4.0, 6.0), jnp.zeros(0))
        for op, wanted in (("SUM", 15), ("MEAN", 2.5)):
            assert called(lambda v, op=op: strategy.reduce(op, v, 0), value) == wanted
        with pytest.raises(ValueError, match="name the axis in which they differ"):
            called(lambda v: strategy.reduce("SUM", v, None), value)

    def test_a_mean_of_nothing_is_not_a_number(
        self, strategy: MirroredStrategy
    ) -> None:
        value = spread(strategy, *[jnp.zeros((0, 2))] * 3)
        assert strategy.reduce("SUM", value, 0).tolist() == [0, 0]
        assert bool(jnp.isnan(strategy.reduce("MEAN", value, 0)).all())

    def test_a_nest_keeps_its_structure(
        self, strategy: MirroredStrategy, called: Call
    ) -> None:
        value = {"a": PerReplica.on((1, 2, 3), strategy.place.topology), "n": None}
        nest = [value, (value["a"],)]
        found = called(lambda v: strategy.reduce("SUM", v, None), nest)
        assert jax.tree.map(int, found) == [{"a": 6, "n": None}, (6,)]
        with pytest.raises(ValueError, match="was given a nest of 2"):
            called(lambda v: strategy.reduce("SUM", v, 0), nest)

    @pytest.mark.parametrize("value", [3.0, np.ones(2), jnp.ones((2, 2)), 5])
    def test_a_plain_value(self, strategy: MirroredStrategy, value: Any) -> None:
        with pytest.raises(ValueError, match="not said whether it counts once"):
            strategy.reduce("SUM", value, None)
        assert strategy.reduce("MEAN", value, None) is value

    def test_a_mirrored_value_counts_on_every_replica(
        self, strategy: MirroredStrategy
    ) -> None:
        value = Mirrored([jnp.arange(2.0)] * 3)
        assert strategy.reduce("SUM", value, None).tolist() == [0, 3]
        assert strategy.reduce("MEAN", value, 0) == 0.5

    def test_a_large_host_value_is_named(self, strategy: MirroredStrategy) -> None:
        with pytest.raises(OverflowError, match=str(2**40)):
            strategy.reduce("SUM", PerReplica([1, 2**40, 3]), None)

    def test_strings_are_refused(self, strategy: MirroredStrategy) -> None:
        with pytest.raises(TypeError, match="'a', which cannot be put on a device"):
            strategy.reduce("SUM", PerReplica(["a", "b", "c"]), None)

    def test_components_of_different_dtypes(self, strategy: MirroredStrategy) -> None:
        with pytest.raises(TypeError, match=r"are int32\[\], float32\[\], int32\[\]"):
            strategy.reduce("SUM", PerReplica([1, 2.0, 3]), None)

    def test_another_number_of_components(self, strategy: MirroredStrategy) -> None:
        with pytest.raises(
            ValueError, match="has 2 components, but the strategy has 3"
        ):
            strategy.reduce("SUM", PerReplica([1, 2]), None)

    def test_the_result_is_usable_with_arrays_of_any_device(
        self, strategy: MirroredStrategy
    ) -> None:
        total = strategy.reduce("SUM", spread(strategy, *ROWS), None)
        assert len(total.devices()) == 1
        far = jax.device_put(jnp.ones((2, 3)), jax.devices()[6])
        assert (far + total).device == jax.devices()[6]

    def test_in_a_step_it_is_refused(self, strategy: MirroredStrategy) -> None:
        with pytest.raises(RuntimeError, match=r"get_replica_context\(\).all_reduce"):
            strategy.run(lambda: strategy.reduce("SUM", 1.0, None))

    def test_one_replica(self) -> None:
        one = OneDeviceStrategy("CPU:2")
        rows = jnp.array([[1.0, 2.0], [3.0, 6.0]])
        assert one.reduce("SUM", rows, None) is rows
        assert one.reduce("MEAN", rows, 0).tolist() == [2, 4]
        assert one.reduce("SUM", PerReplica([rows]), (0, 1)) == 12
        assert one.reduce("SUM", "text", None) == "text"
        with pytest.raises(ValueError, match="has no such axis"):
            one.reduce("SUM", rows, 2)


class TestReduceOfVariables:
    def test_mirrored(self, strategy: MirroredStrategy, called: Call) -> None:
        with strategy.scope():
            v = replax.Variable(jnp.array([1.0, 2.0]))

        def both() -> Any:
            return strategy.reduce("SUM", v, None), strategy.reduce("MEAN", v, 0)

        for value, total, mean in (
            ([1.0, 2.0], [3, 6], 1.5),
            ([3.0, 4.0], [9, 12], 3.5),
        ):
            v.assign(value)
            found = called(both)
            assert found[0].tolist() == total
            assert found[1] == mean

    def test_a_program_sees_later_assignments(self, strategy: MirroredStrategy) -> None:
        with strategy.scope():
            v = replax.Variable(1.0)
        total = replax.function(lambda: strategy.reduce("SUM", v, None))
        assert total() == 3
        v.assign(2.0)
        assert total() == 6

    @pytest.mark.parametrize("aggregation", list(VariableAggregation))
    def test_on_read_is_reduced_by_its_components(
        self,
        strategy: MirroredStrategy,
        called: Call,
        aggregation: VariableAggregation,
    ) -> None:
        with strategy.scope():
            v = replax.Variable(
                0.0,
                synchronization=VariableSynchronization.ON_READ,
                aggregation=aggregation,
            )
        strategy.run(lambda: v.assign(jnp.float32(2 + replica())))
        assert called(lambda: strategy.reduce("SUM", v, None)) == 9
        assert called(lambda: strategy.reduce("MEAN", v, None)) == 3

    def test_a_tree(self, strategy: MirroredStrategy, called: Call) -> None:
        with strategy.scope():
            v = replax.Variable({"a": [1.0, 2.0], "b": 3.0})
        found = called(lambda: strategy.reduce("SUM", v, None))
        assert jax.tree.map(lambda x: x.tolist(), found) == {"a": [3, 6], "b": 9}

    def test_a_variable_made_outside_is_a_plain_value(
        self, strategy: MirroredStrategy
    ) -> None:
        v = replax.Variable(2.0)
        assert strategy.reduce("MEAN", v, None) == 2
        with pytest.raises(ValueError, match="not said whether it counts once"):
            strategy.reduce("SUM", v, None)


class TestInFunctions:
    @pytest.mark.parametrize("op", ["SUM", "MEAN"])
    def test_of_a_run_without_arguments(
        self, strategy: MirroredStrategy, op: str
    ) -> None:
        def total() -> Any:
            return strategy.reduce(
                op, strategy.run(lambda: jnp.float32(replica())), None
            )

        assert replax.function(total)() == total() == {"SUM": 3, "MEAN": 1}[op]

    def test_of_what_the_function_has_computed(
        self, strategy: MirroredStrategy
    ) -> None:
        def total(value: Any) -> Any:
            return strategy.reduce("MEAN", jax.tree.map(lambda x: 2 * x, value), 0)

        value = spread(strategy, *ROWS)
        np.testing.assert_allclose(replax.function(total)(value), total(value))

    def test_of_values_made_in_it(self, strategy: MirroredStrategy) -> None:
        def both() -> Any:
            value = strategy.experimental_distribute_values_from_function(
                lambda c: jnp.arange(3) + c.replica_id_in_sync_group
            )
            return strategy.reduce("MEAN", value, None), strategy.gather(value, 0)

        mean, rows = replax.function(both)()
        assert mean.tolist() == [1, 2, 3]
        assert rows.tolist() == [0, 1, 2, 1, 2, 3, 2, 3, 4]

    def test_in_merge_call(self, strategy: MirroredStrategy, called: Call) -> None:
        def merged(where: Any, x: Any) -> Any:
            return where.reduce("MEAN", x, 0), where.gather(x, 0)

        def step() -> Any:
            return context().merge_call(merged, (jnp.arange(2.0) + replica(),))

        mean, rows = called(lambda: strategy.run(step))
        assert set(parts(strategy, mean)) == {1.5}
        assert all(p == [0, 1, 1, 2, 2, 3] for p in parts(strategy, rows))


class TestGather:
    @pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
    def test_axes(self, strategy: MirroredStrategy, called: Call, axis: int) -> None:
        rows = [np.arange(6).reshape(1, 2, 3) + 10 * i for i in range(3)]
        found = called(lambda v: strategy.gather(v, axis), spread(strategy, *rows))
        np.testing.assert_array_equal(found, np.concatenate(rows, axis))

    @pytest.mark.parametrize("lengths", [(2, 1, 0), (0, 0, 3), (0, 0, 0), (1, 4, 1)])
    @pytest.mark.parametrize("axis", [0, 1])
    def test_lengths_may_differ(
        self,
        strategy: MirroredStrategy,
        called: Call,
        lengths: tuple[int, ...],
        axis: int,
    ) -> None:
        rows = [
            np.full((n, 2) if axis == 0 else (2, n), 1.0 + i, np.float32)
            for i, n in enumerate(lengths)
        ]
        found = called(lambda v: strategy.gather(v, axis), spread(strategy, *rows))
        np.testing.assert_array_equal(found, np.concatenate(rows, axis))

    def test_other_lengths_may_not(self, strategy: MirroredStrategy) -> None:
        value = spread(strategy, *(jnp.ones((1, n)) for n in (1, 2, 3)))
        with pytest.raises(ValueError, match="may differ in the length of that axis"):
            strategy.gather(value, 0)

    def test_a_nest(self, strategy: MirroredStrategy, called: Call) -> None:
        nest = {
            "a": spread(strategy, *(jnp.array([i]) for i in range(3))),
            "b": [spread(strategy, *(jnp.ones((1 + i, 2)) for i in range(3))), None],
        }
        found = called(lambda v: strategy.gather(v, 0), nest)
        assert found["a"].tolist() == [0, 1, 2]
        assert found["b"][0].shape == (6, 2)
        assert found["b"][1] is None

    def test_strings_stay_on_the_host(self, strategy: MirroredStrategy) -> None:
        value = PerReplica([np.array(["a", "b"]), np.array([], "U1"), np.array(["c"])])
        assert strategy.gather(value, 0).tolist() == ["a", "b", "c"]
        with pytest.raises(ValueError, match="has no such axis"):
            strategy.gather(PerReplica(["a", "b", "c"]), 0)

    @pytest.mark.parametrize("axis", [None, 1.0, "0"])
    def test_an_axis_of_another_type(
        self, strategy: MirroredStrategy, axis: Any
    ) -> None:
        with pytest.raises(TypeError, match=f"axis is {axis!r}; give the dimension"):
            strategy.gather(spread(strategy, *ROWS), axis)

    @pytest.mark.parametrize("axis", [2, -3])
    def test_an_axis_out_of_range(
        self, strategy: MirroredStrategy, called: Call, axis: int
    ) -> None:
        with pytest.raises(ValueError, match=r"shape \(2, 3\) on each replica, which"):
            called(lambda v: strategy.gather(v, axis), spread(strategy, *ROWS))

    def test_a_plain_value_is_together_already(
        self, strategy: MirroredStrategy
    ) -> None:
        assert strategy.gather(jnp.ones(2), 0).tolist() == [1, 1]

    def test_a_variable_is_gathered_by_its_components(
        self, strategy: MirroredStrategy, called: Call
    ) -> None:
        with strategy.scope():
            v = replax.Variable([1, 2])
        assert called(lambda: strategy.gather(v, 0)).tolist() == [1, 2] * 3

    def test_one_replica(self) -> None:
        one = OneDeviceStrategy("CPU:2")
        assert one.gather(jnp.arange(2), 0).tolist() == [0, 1]
        assert one.gather(PerReplica([jnp.arange(2)]), -1).tolist() == [0, 1]
        with pytest.raises(ValueError, match="has no such axis"):
            one.gather(jnp.arange(2), 1)

    def test_in_a_step_it_is_refused(self, strategy: MirroredStrategy) -> None:
        with pytest.raises(RuntimeError, match=r"get_replica_context\(\).all_gather"):
            strategy.run(lambda: strategy.gather(jnp.ones(1), 0))


@hypothesis.given(lengths=st.lists(st.integers(0, 2), min_size=3, max_size=3))
@hypothesis.settings(max_examples=5)
def test_whatever_the_lengths_rows_are_kept(
    strategy: MirroredStrategy, lengths: list[int]
) -> None:
    rows = [np.arange(n, dtype=np.float32) + 10 * i for i, n in enumerate(lengths)]
    value = spread(strategy, *rows)
    joined = np.concatenate(rows)
    np.testing.assert_array_equal(strategy.gather(value, 0), joined)
    np.testing.assert_allclose(strategy.reduce("SUM", value, 0), joined.sum())
    if joined.size:
        np.testing.assert_allclose(
            strategy.reduce("MEAN", value, 0), joined.mean(), rtol=1e-6
        )
