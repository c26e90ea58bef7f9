"""The eager form of a run: arguments, results, and what goes wrong."""

from __future__ import annotations

import logging
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax import VariableAggregation, VariableSynchronization
from replax._src.core import jax_compat
from replax.distribute import MirroredStrategy, PerReplica, get_replica_context
from replica_threads import require_no_replica_running
from running import Runner, compiled, context, eagerly, parts, replica

TEST_FILE = "test_eager.py"


@pytest.fixture(scope="module")
def strategy() -> MirroredStrategy:
    return MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])


class TestArguments:
    def test_each_replica_gets_its_component_on_its_device(
        self, strategy: MirroredStrategy
    ) -> None:
        values = strategy.experimental_distribute_values_from_function(
            lambda c: {"x": np.full(2, c.replica_id_in_sync_group)}
        )

        def step(nest: Any, *, scale: Any) -> Any:
            assert nest["x"].device == context().devices[0] == (nest["x"] * 2).device
            return nest["x"] * scale

        found = strategy.run(step, (values,), {"scale": jnp.int32(3)})
        assert parts(strategy, found) == [[0, 0], [3, 3], [6, 6]]

    def test_python_values_stay_what_they_are(self, strategy: MirroredStrategy) -> None:
        marker = object()
        seen: list[Any] = []
        strategy.run(
            lambda *args: seen.append(args), (1, 2.5, "text", None, True, marker)
        )
        assert seen == [(1, 2.5, "text", None, True, marker)] * 3

    def test_arrays_of_any_device_come_to_the_replica(
        self, strategy: MirroredStrategy
    ) -> None:
        far = jax.device_put(jnp.ones(2), jax.devices()[7])
        found = strategy.run(lambda x: x + jnp.ones(2), (far,))
        assert parts(strategy, found) == [[2, 2]] * 3

    def test_host_memory_may_be_reused_after_the_run(
        self, strategy: MirroredStrategy
    ) -> None:
        for size in (3, 1024):
            plain, own = np.ones(size, np.float32), np.ones(size, np.float32)
            both = strategy.run(lambda x, y: (x, y), (plain, PerReplica([own] * 3)))
            plain[:] = own[:] = 7
            for result in both:
                for value in strategy.experimental_local_results(result):
                    np.testing.assert_array_equal(value, np.ones(size))

    @pytest.mark.parametrize("count", [0, 1, 2, 4])
    def test_another_number_of_components_is_named(
        self, strategy: MirroredStrategy, count: int
    ) -> None:
        called: list[int] = []
        with pytest.raises(ValueError, match="but the strategy has 3 replicas") as e:
            strategy.run(
                lambda *_: called.append(1), ({"x": [PerReplica([1] * count)]},)
            )
        assert f"argument [0]['x'][0] has {count} components" in str(e.value)
        assert called == []

    def test_a_value_that_does_not_fit_is_named(
        self, strategy: MirroredStrategy
    ) -> None:
        big = np.array([2**40 + 5])
        with pytest.raises(OverflowError, match=r"argument by name \['n'\]") as e:
            strategy.run(lambda n: n, kwargs={"n": big})
        assert str(2**40 + 5) in str(e.value)

    def test_args_that_are_no_tuple_are_refused(
        self, strategy: MirroredStrategy
    ) -> None:
        args: Any = jnp.ones((3, 2))
        with pytest.raises(
            ValueError, match=r"args is a .*; give a tuple .*args=\(x,\)"
        ):
            strategy.run(lambda x: x, args)
        assert parts(strategy, strategy.run(lambda x: x, [1])) == [1]


class TestResults:
    def test_arguments_that_come_back_are_one_value(
        self, strategy: MirroredStrategy
    ) -> None:
        one, host = jnp.ones(2), np.ones(2, np.float32)
        found = strategy.run(lambda x, y: {"x": x, "y": y, "z": x + y}, (one, host))
        assert found["x"] is one
        assert isinstance(found["y"], jax.Array)
        host[:] = 7
        np.testing.assert_array_equal(found["y"], [1, 1])
        np.testing.assert_array_equal(found["y"] + one, [2, 2])
        assert isinstance(found["z"], PerReplica)

    def test_the_same_object_comes_back_unwrapped(
        self, strategy: MirroredStrategy
    ) -> None:
        one = object()
        with strategy.scope():
            v = replax.Variable(1.0)
        found = strategy.run(lambda: {"one": one, "v": v, "none": None, "n": 1})
        assert found["one"] is one
        assert found["v"] is v
        assert found["none"] is None
        assert found["n"] == 1

    def test_different_objects_become_a_per_replica_value(
        self, strategy: MirroredStrategy
    ) -> None:
        found = strategy.run(lambda: (f"r{replica()}", jnp.ones(2) * replica()))
        assert isinstance(found[0], PerReplica)
        assert found[0].values == ("r0", "r1", "r2")
        assert parts(strategy, found[1]) == [[0, 0], [1, 1], [2, 2]]
        assert [x.device.id for x in found[1].values] == [0, 1, 2]

    def test_different_structures_are_named(self, strategy: MirroredStrategy) -> None:
        with pytest.raises(
            ValueError, match=r"the step returned .* on replica 0 and .*"
        ):
            strategy.run(lambda: [1.0] * (1 + replica()))

    def test_a_result_is_an_argument_of_a_compiled_step(
        self, strategy: MirroredStrategy
    ) -> None:
        found = strategy.run(lambda: jnp.ones(2) * replica())
        double = replax.function(lambda x: strategy.run(lambda y: 2 * y, (x,)))
        assert parts(strategy, double(found)) == [[0, 0], [2, 2], [4, 4]]


class TestMergeCall:
    def test_it_is_called_once_between_the_replicas(
        self, strategy: MirroredStrategy
    ) -> None:
        calls: list[Any] = []

        def merged(where: Any, nest: Any, *, by: int) -> Any:
            calls.append((where, get_replica_context(), threading.current_thread()))
            return {
                "sum": where.reduce("SUM", nest["x"], None) * by,
                "own": nest["x"],
                "same": nest["same"],
                "none": None,
            }

        def step() -> Any:
            nest = {"x": jnp.float32(replica()), "same": "text"}
            return context().merge_call(merged, (nest,), {"by": 10})

        found = strategy.run(step)
        assert [call[:2] for call in calls] == [(strategy, None)]
        assert parts(strategy, found["sum"]) == [30]
        assert parts(strategy, found["own"]) == [0, 1, 2]
        assert found["same"] == "text"
        assert found["none"] is None

    def test_a_variable_is_assigned_once_in_it(
        self, strategy: MirroredStrategy
    ) -> None:
        with strategy.scope():
            v = replax.Variable(1.0)

        def step() -> None:
            context().merge_call(lambda _: v.assign_add(1.0))

        strategy.run(step)
        assert parts(strategy, v) == [2, 2, 2]

    def test_the_context_is_not_there_to_merge_again(
        self, strategy: MirroredStrategy
    ) -> None:
        def step() -> None:
            here = context()
            here.merge_call(lambda _: here.merge_call(lambda _: None))

        with pytest.raises(RuntimeError, match="not the running one"):
            strategy.run(step)

    def test_merging_again_after_merging_works(
        self, strategy: MirroredStrategy
    ) -> None:
        def step() -> Any:
            one = context().merge_call(
                lambda s, x: s.reduce("SUM", x, None), (replica(),)
            )
            return context().merge_call(lambda s, x: x, (one + replica(),))

        assert parts(strategy, strategy.run(step)) == [3, 4, 5]

    def test_an_eager_run_may_start_in_it(self, strategy: MirroredStrategy) -> None:
        def step() -> Any:
            return context().merge_call(
                lambda s: s.run(lambda: jnp.ones(1) * replica())
            )

        assert parts(strategy, strategy.run(step)) == [[0], [1], [2]]

    def test_different_structures_are_named(self, strategy: MirroredStrategy) -> None:
        def step() -> None:
            context().merge_call(lambda s, x: None, ([1] * (1 + replica()),))

        with pytest.raises(ValueError, match=r"merge_call was given .* on replica 0"):
            strategy.run(step)

    def test_its_error_is_raised_in_the_caller(
        self, strategy: MirroredStrategy
    ) -> None:
        def step() -> None:
            context().merge_call(lambda s: {}["missing"])

        with pytest.raises(KeyError, match="missing") as raised:
            strategy.run(step)
        assert any("raised in merge_call" in note for note in raised.value.__notes__)


class TestDivergence:
    def test_different_collectives_are_named(self, strategy: MirroredStrategy) -> None:
        def step() -> None:
            if replica() == 1:
                context().all_gather(jnp.ones(2), 0)
            else:
                context().all_reduce("SUM", jnp.ones(2))

        with pytest.raises(RuntimeError) as raised:
            strategy.run(step)
        assert "replica 1 is at all_gather" in str(raised.value)
        assert "replica 0 is at all_reduce" in str(raised.value)
        assert str(raised.value).count(TEST_FILE) == 2

    @pytest.mark.parametrize("early", [0, 1, 2])
    def test_returning_early_is_named(
        self, strategy: MirroredStrategy, early: int
    ) -> None:
        def step() -> None:
            if replica() != early:
                context().all_reduce("SUM", jnp.ones(2))

        with pytest.raises(RuntimeError, match=f"replica {early} has returned"):
            strategy.run(step)

    def test_different_shapes_are_named(self, strategy: MirroredStrategy) -> None:
        def step() -> None:
            context().all_reduce("SUM", {"a": 1.0, "b": jnp.ones(1 + replica())})

        with pytest.raises(ValueError, match=r"array 1 is float32\[1\], float32\[2\]"):
            strategy.run(step)

    def test_other_axes_are_not_gathered(self, strategy: MirroredStrategy) -> None:
        def step() -> None:
            context().all_gather(jnp.ones((2, 1 + replica())), 0)

        with pytest.raises(ValueError, match=r"float32\[2, 1\], .*that axis only"):
            strategy.run(step)

    @pytest.mark.parametrize("run", [eagerly, compiled])
    def test_a_step_that_needs_rows_says_that_there_are_none(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        data = replax.data.Dataset.from_tensor_slices(np.ones((5, 2))).batch(3)
        full, short = strategy.experimental_distribute_dataset(data)
        assert parts(strategy, run(strategy, jnp.max, full)) == [1, 1, 1]
        with pytest.raises(ValueError, match="zero-size array") as raised:
            run(strategy, jnp.max, short)
        assert "a replica that has no rows" in "".join(raised.value.__notes__)
        with pytest.raises(KeyError) as other:
            run(strategy, lambda _: {}["rows"], full)
        assert "no rows" not in "".join(getattr(other.value, "__notes__", []))

    def test_the_class_of_an_exception_is_kept(
        self, strategy: MirroredStrategy
    ) -> None:
        class OwnError(Exception):
            pass

        def step() -> None:
            if replica() == 2:
                raise OwnError
            context().all_reduce("SUM", jnp.ones(2))

        with pytest.raises(OwnError) as raised:
            strategy.run(step)
        assert raised.value.__notes__ == ["(raised on replica 2 of 3)"]


class TestAFailedStepChangesNothing:
    @pytest.mark.parametrize("failing", [0, 1, 2])
    @pytest.mark.parametrize(
        "kwargs",
        [
            {},
            {"aggregation": VariableAggregation.SUM},
            {"synchronization": VariableSynchronization.ON_READ},
        ],
        ids=["none", "sum", "on_read"],
    )
    def test_after_an_exception_on_one_replica(
        self, strategy: MirroredStrategy, failing: int, kwargs: Any
    ) -> None:
        with strategy.scope():
            v = replax.Variable(1.0, **kwargs)

        def step() -> None:
            for _ in range(2):
                v.assign_add(jnp.float32(2))
            if replica() == failing:
                raise KeyError

        with pytest.raises(KeyError):
            strategy.run(step)
        assert parts(strategy, v) == [1, 1, 1]

    def test_after_unequal_values(self, strategy: MirroredStrategy) -> None:
        with strategy.scope():
            v, w = replax.Variable(1.0, name="v"), replax.Variable(1.0, name="w")

        def step() -> None:
            v.assign(5.0)
            w.assign(jnp.float32(replica()))

        with pytest.raises(ValueError, match="'w'"):
            strategy.run(step)
        assert parts(strategy, v) == parts(strategy, w) == [1, 1, 1]

    def test_programs_in_between_do_not_take_the_old_value_away(
        self, strategy: MirroredStrategy
    ) -> None:
        with strategy.scope():
            v = replax.Variable(jnp.ones(100))
        add = replax.function(lambda: v.assign_add(jnp.ones(100)))

        def step() -> None:
            v.assign_add(jnp.ones(100))
            context().merge_call(lambda _: add())
            raise KeyError

        add()
        with pytest.raises(KeyError):
            strategy.run(step)
        np.testing.assert_array_equal(v.numpy(), np.full(100, 2))


class TestUnreduced:
    def test_the_error_names_the_variable_the_line_and_the_ways_out(
        self, strategy: MirroredStrategy
    ) -> None:
        with strategy.scope():
            v = replax.Variable(jnp.ones(3), name="weights")

        def step() -> None:
            v.assign_sub(jnp.full(3, float(replica())))

        with pytest.raises(ValueError, match="'weights' has no aggregation") as e:
            strategy.run(step)
        line = step.__code__.co_firstlineno + 1
        assert f"{__file__}:{line} (step)" in str(e.value)
        assert "replica 0 and replica 1 differ" in str(e.value)
        assert "all_reduce" in str(e.value)
        assert "aggregation=VariableAggregation.MEAN" in str(e.value)

    def test_equal_values_pass(self, strategy: MirroredStrategy) -> None:
        with strategy.scope():
            v = replax.Variable(jnp.zeros(3))
        total = jnp.array([jnp.nan, jnp.inf, 3.0])
        strategy.run(lambda: v.assign(total + context().all_reduce("SUM", 0.0)))
        for part in v.values:
            np.testing.assert_array_equal(part, total)

    def test_bfloat16_nans_are_equal(self, strategy: MirroredStrategy) -> None:
        with strategy.scope():
            v = replax.Variable(jnp.zeros(2, jnp.bfloat16))
        strategy.run(lambda: v.assign(jnp.array([jnp.nan, 1], jnp.bfloat16)))
        assert bool(jnp.isnan(v.read_value()[0]))

    def test_only_some_replicas_assign(self, strategy: MirroredStrategy) -> None:
        with strategy.scope():
            v = replax.Variable(0.0, name="v")

        def step() -> None:
            if replica() == 0:
                v.assign(3.0)

        with pytest.raises(ValueError, match="only some of the replicas assign it"):
            strategy.run(step)
        assert parts(strategy, v) == [0, 0, 0]

    def test_divergence_can_be_allowed(self, strategy: MirroredStrategy) -> None:
        with strategy.scope():
            v = replax.Variable(0.0)
        options = replax.distribute.RunOptions(may_diverge=True)
        strategy.run(lambda: v.assign(jnp.float32(replica())), options=options)
        assert parts(strategy, v) == [0, 1, 2]


class TestTransformations:
    def test_a_run_inside_of_a_gradient_is_refused(
        self, strategy: MirroredStrategy
    ) -> None:
        def loss(w: Any) -> Any:
            return strategy.reduce("SUM", strategy.run(lambda w: w * w, (w,)), None)

        with pytest.raises(RuntimeError, match="transform inside of the step"):
            jax.grad(loss)(3.0)

    def test_a_run_inside_of_jit_is_refused(self, strategy: MirroredStrategy) -> None:
        with pytest.raises(RuntimeError, match=r"use replax.function in place of"):
            jax.jit(lambda: strategy.run(lambda: 1))()

    @pytest.mark.parametrize(
        "inner",
        [
            lambda f: jax.jit(f)(jnp.ones(2)),
            lambda f: jax.lax.fori_loop(0, 2, lambda _, x: f(x), jnp.ones(2)),
            lambda f: jax.lax.cond(jnp.bool_(1), f, lambda x: x, jnp.ones(2)),
        ],
        ids=["jit", "loop", "cond"],
    )
    def test_a_collective_inside_of_a_program_says_what_to_do(
        self, strategy: MirroredStrategy, inner: Any
    ) -> None:
        def step() -> Any:
            return inner(lambda x: context().all_reduce("SUM", x))

        with pytest.raises(
            RuntimeError, match=r"compile the whole step with replax.fun"
        ):
            strategy.run(step)

    def test_settings_of_the_caller_reach_every_replica(
        self, strategy: MirroredStrategy
    ) -> None:
        with jax.enable_x64(True), jax.numpy_rank_promotion("raise"):
            found = strategy.run(
                lambda: (
                    str(jnp.arange(2).dtype),
                    jax_compat.setting("jax_numpy_rank_promotion"),
                )
            )
        values = [f.values if isinstance(f, PerReplica) else (f,) * 3 for f in found]
        assert values == [("int64",) * 3, ("raise",) * 3]


def test_a_run_is_said_once_to_be_slow(
    strategy: MirroredStrategy, caplog: pytest.LogCaptureFixture
) -> None:
    strategy.run(lambda: None)
    caplog.clear()
    with caplog.at_level(logging.WARNING, "replax"):
        strategy.run(lambda: None)
    assert caplog.records == []


def test_no_replica_is_left_running(strategy: MirroredStrategy) -> None:
    strategy.run(lambda: context().all_reduce("SUM", 1.0))
    require_no_replica_running()


def test_devices_in_any_order() -> None:
    strategy = MirroredStrategy(["CPU:5", "CPU:1", "CPU:3"])
    with strategy.scope():
        v = replax.Variable(
            jnp.zeros(()), synchronization=VariableSynchronization.ON_READ
        )

    def step() -> Any:
        v.assign(jnp.float32(replica()))
        gathered = context().all_gather(jnp.array([replica()]), 0)
        total = context().all_reduce("SUM", jnp.float32(replica()))
        return gathered, total, next(iter(jnp.ones(1).devices())).id

    gathered, total, devices = strategy.run(step)
    assert parts(strategy, gathered) == [[0, 1, 2]] * 3
    assert parts(strategy, total) == [3, 3, 3]
    assert devices.values == (5, 1, 3)
    assert parts(strategy, v) == [0, 1, 2]
    double = replax.function(lambda: strategy.run(lambda: v.assign(v * 2)))
    double()
    assert parts(strategy, v) == [0, 2, 4]
