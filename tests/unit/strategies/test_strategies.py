"""Strategies: how they are made, and what they hand out."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax import VariableAggregation, config, distribute
from replax.distribute import (
    HierarchicalCopyAllReduce,
    Mirrored,
    MirroredStrategy,
    NcclAllReduce,
    OneDeviceStrategy,
    PerReplica,
    ReductionToOneDevice,
    RunOptions,
    Strategy,
)
from running import Runner, compiled, context, eagerly, parts, replica


@pytest.fixture(scope="module")
def strategy() -> MirroredStrategy:
    return MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])


@pytest.fixture(params=[eagerly, compiled])
def run(request: pytest.FixtureRequest) -> Runner:
    return request.param


class TestMaking:
    def test_by_default_all_devices_are_replicas(self) -> None:
        assert MirroredStrategy().num_replicas_in_sync == 8

    def test_devices_by_any_name(self) -> None:
        devices = ["/cpu:3", jax.devices()[1], config.list_logical_devices("CPU")[5]]
        strategy = MirroredStrategy(devices)
        assert repr(strategy) == "MirroredStrategy(CPU:3, CPU:1, CPU:5)"
        assert strategy.num_replicas_in_sync == 3
        assert MirroredStrategy("CPU:1").num_replicas_in_sync == 1
        assert strategy.mesh.axis_names == (distribute.REPLICA_AXIS,)
        assert [d.id for d in strategy.mesh.devices] == [3, 1, 5]

    def test_devices_that_make_no_sense(self) -> None:
        for devices, error, message in (
            ([], ValueError, "devices is empty; name at least one"),
            (["CPU:0", "cpu:0"], ValueError, "is named twice"),
            (["GPU:0"], ValueError, "there is no device 'GPU:0'; there are CPU:0"),
            ([1], TypeError, "named by 1, a int"),
            (2, TypeError, r"the number 2; name the devices, as in .*range\(2\)"),
        ):
            given: Any = devices
            with pytest.raises(error, match=message):
                MirroredStrategy(given)
        with pytest.raises(ValueError, match="there is no device 'TPU:0'"):
            OneDeviceStrategy("TPU:0")

    @pytest.mark.parametrize(
        "ops",
        [
            NcclAllReduce(num_packs=2),
            HierarchicalCopyAllReduce(1),
            ReductionToOneDevice("CPU:0"),
        ],
        ids=repr,
    )
    def test_ways_to_reduce_are_accepted(self, ops: Any) -> None:
        strategy = MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=ops)
        assert float(strategy.reduce("SUM", PerReplica([1.0, 2.0]), None)) == 3

    def test_ways_to_reduce_that_make_no_sense(self) -> None:
        ops: Any = "nccl"
        with pytest.raises(
            ValueError, match="cross_device_ops is 'nccl'; give a Cross"
        ):
            MirroredStrategy(["CPU:0"], cross_device_ops=ops)
        with pytest.raises(ValueError, match="num_packs is -1; it must be 0 or more"):
            NcclAllReduce(-1)
        with pytest.raises(ValueError, match=r"gather the values with strategy.gather"):
            ReductionToOneDevice(accumulation_fn=sum)

    def test_a_single_worker_has_no_resolver(self, strategy: MirroredStrategy) -> None:
        assert strategy.cluster_resolver is None

    def test_a_single_worker_of_one_device(self) -> None:
        one = OneDeviceStrategy("CPU:4")
        assert one.num_replicas_in_sync == 1
        assert repr(one) == "OneDeviceStrategy(CPU:4)"


class TestLocalResults:
    def test_of_a_per_replica_value(self, strategy: MirroredStrategy) -> None:
        assert strategy.experimental_local_results(PerReplica((1, 2, 3))) == (1, 2, 3)
        assert strategy.experimental_local_results(Mirrored((1, 1, 1))) == (1, 1, 1)

    @pytest.mark.parametrize("value", [5, "text", None])
    def test_of_a_plain_value(self, strategy: MirroredStrategy, value: Any) -> None:
        assert strategy.experimental_local_results(value) == (value,)

    @pytest.mark.parametrize("value", [[1, {"a": 2}], (1, 2), ()])
    def test_of_a_nest_of_plain_values(
        self, strategy: MirroredStrategy, value: Any
    ) -> None:
        assert strategy.experimental_local_results(value) == (value,) * 3

    def test_of_a_nest_there_is_one_nest_a_replica(
        self, strategy: MirroredStrategy
    ) -> None:
        nest = {"a": PerReplica((1, 2, 3)), "b": ["same", PerReplica("xyz")], "c": None}
        assert strategy.experimental_local_results(nest) == tuple(
            {"a": a, "b": ["same", b], "c": None}
            for a, b in zip((1, 2, 3), "xyz", strict=True)
        )

    def test_of_variables(self, strategy: MirroredStrategy) -> None:
        with strategy.scope():
            v, tree = replax.Variable(1.0), replax.Variable({"x": [1.0, 2.0]})
        assert parts(strategy, v) == [1, 1, 1]
        found = strategy.experimental_local_results(tree)
        assert [f["x"].tolist() for f in found] == [[1, 2]] * 3
        plain = replax.Variable(1.0)
        assert strategy.experimental_local_results(plain) == (plain,)
        nest = strategy.experimental_local_results([v, plain])
        assert len(nest) == 3
        assert all(row[1] is plain for row in nest)

    def test_of_one_replica(self) -> None:
        one = OneDeviceStrategy("CPU:1")
        assert one.experimental_local_results(one.run(lambda: 5)) == (5,)
        with one.scope():
            v = replax.Variable(2.0)
        assert [float(x) for x in one.experimental_local_results(v)] == [2]


class TestValuesFromFunction:
    def test_each_replica_has_its_own(self, strategy: MirroredStrategy) -> None:
        value = strategy.experimental_distribute_values_from_function(
            lambda c: (c.replica_id_in_sync_group, c.num_replicas_in_sync)
        )
        assert isinstance(value, tuple)
        assert strategy.experimental_local_results(value) == ((0, 3), (1, 3), (2, 3))

    def test_different_structures_are_named(self, strategy: MirroredStrategy) -> None:
        with pytest.raises(
            ValueError, match=r"value_fn returned the structures .*return"
        ):
            strategy.experimental_distribute_values_from_function(
                lambda c: [1] * (1 + c.replica_id_in_sync_group)
            )

    def test_it_works_in_the_scope_and_in_a_function(
        self, strategy: MirroredStrategy
    ) -> None:
        def total() -> Any:
            value = strategy.experimental_distribute_values_from_function(
                lambda c: jnp.float32(c.replica_id_in_sync_group)
            )
            doubled = strategy.run(lambda x: 2 * x, (value,))
            return strategy.reduce("SUM", doubled, None)

        with strategy.scope():
            assert float(total()) == 6
        assert float(replax.function(total)()) == 6


class TestRun:
    def test_keyword_arguments_and_nests(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        value = strategy.experimental_distribute_values_from_function(
            lambda c: {"x": np.float32(c.replica_id_in_sync_group)}
        )
        found = run(strategy, lambda v, k: {"sum": v["x"] + k[0]}, value, [10])
        assert parts(strategy, found["sum"]) == [10, 11, 12]

    def test_a_function_may_be_run(self, strategy: MirroredStrategy) -> None:
        @replax.function
        def step(x: Any) -> Any:
            return x + replica()

        assert parts(strategy, strategy.run(step, (1,))) == [1, 2, 3]
        assert parts(strategy, strategy.run(step, (jnp.int32(5),))) == [5, 6, 7]

    @pytest.mark.parametrize("runner", [eagerly, compiled])
    def test_options_reach_both_forms(
        self, strategy: MirroredStrategy, runner: Runner
    ) -> None:
        with strategy.scope():
            v = replax.Variable(0.0)

        def step() -> None:
            v.assign(jnp.float32(replica()))

        options = RunOptions(may_diverge=True)

        def whole() -> Any:
            return strategy.run(step, options=options)

        if runner is compiled:
            replax.function(whole)()
        else:
            whole()
            v.assign(5.0)
            assert parts(strategy, v) == [5] * 3
            whole()
            assert parts(strategy, v) == [0, 1, 2]

    def test_options_reach_a_step_that_runs_as_python(
        self, strategy: MirroredStrategy
    ) -> None:
        with strategy.scope():
            v = replax.Variable(0.0)

        @replax.function
        def step(x: Any) -> None:
            if float(context().all_reduce("SUM", x)) > 0:  # asks for a traced value
                v.assign(jnp.float32(replica()))

        strategy.run(step, (1.0,), options=RunOptions(may_diverge=True))
        assert parts(strategy, v) == [0, 1, 2]

    def test_other_options_are_refused(self, strategy: MirroredStrategy) -> None:
        options: Any = {"may_diverge": True}
        with pytest.raises(TypeError, match="give a RunOptions, or None"):
            strategy.run(lambda: 1, options=options)

    def test_a_step_in_merge_call_of_a_program_is_refused(
        self, strategy: MirroredStrategy
    ) -> None:
        def step() -> Any:
            return context().merge_call(lambda s: s.run(lambda: jnp.ones(1)))

        with pytest.raises(RuntimeError, match="run the second step after the first"):
            compiled(strategy, step)


class TestExtended:
    def test_devices_by_name(self) -> None:
        extended = MirroredStrategy(["CPU:3", "CPU:1"]).extended
        task = "/job:localhost/replica:0/task:0"
        assert extended.worker_devices == (
            f"{task}/device:CPU:3",
            f"{task}/device:CPU:1",
        )
        assert extended.parameter_devices == extended.worker_devices

    def test_reduce_to_and_broadcast_to(self, strategy: MirroredStrategy) -> None:
        extended = strategy.extended
        value = PerReplica([1.0, 2.0, 3.0])
        with strategy.scope():
            v = replax.Variable(0.0)
        found = extended.reduce_to("SUM", value, v)
        assert isinstance(found, Mirrored)
        assert [x.tolist() for x in found.values] == [6, 6, 6]
        assert [x.device.id for x in found.values] == [0, 1, 2]
        pairs = extended.batch_reduce_to("MEAN", [(value, v), (value, v)])
        assert [float(p.values[2]) for p in pairs] == [2, 2]
        v.assign(found)
        assert float(v) == 6
        mine = np.ones(1000, np.float32)
        spread = extended.broadcast_to(mine)
        mine[:] = 7
        assert [float(x.sum()) for x in spread.values] == [1000] * 3

    def test_update(self, strategy: MirroredStrategy, run: Runner) -> None:
        with strategy.scope():
            v = replax.Variable(1.0)

        def merged(where: Strategy, x: Any) -> Any:
            total = where.extended.reduce_to("SUM", x, v)
            where.extended.update(
                v, lambda var, a, *, b: var.assign_add(a * b), (total,), {"b": 2.0}
            )

        run(
            strategy,
            lambda: context().merge_call(merged, (jnp.asarray(replica(), float),)),
        )
        assert parts(strategy, v) == [7, 7, 7]
        with pytest.raises(TypeError, match="reduce it first"):
            strategy.extended.update(
                v, lambda var, a: var.assign(a), (PerReplica([1.0, 2.0, 3.0]),)
            )

    @pytest.mark.parametrize(
        "use",
        [
            lambda e: e.reduce_to("SUM", 1.0),
            lambda e: e.broadcast_to(1.0),
            lambda e: e.update(None, lambda v: v),
        ],
        ids=["reduce_to", "broadcast_to", "update"],
    )
    def test_in_a_step_they_are_refused(
        self, strategy: MirroredStrategy, run: Runner, use: Any
    ) -> None:
        with pytest.raises(
            RuntimeError, match=r"strategy.extended.\w+ inside of a step"
        ):
            run(strategy, lambda: use(strategy.extended))

    def test_the_rest(self, strategy: MirroredStrategy) -> None:
        extended = strategy.extended
        with strategy.scope():
            v = replax.Variable(1.0, aggregation=VariableAggregation.SUM)
        plain = replax.Variable(1.0)
        assert extended.variable_created_in_scope(v)
        assert not extended.variable_created_in_scope(plain)
        assert extended.value_container(v) is v
        assert parts(strategy, extended.call_for_each_replica(replica)) == [0, 1, 2]
        with extended.colocate_vars_with(v):
            pass
        with pytest.raises(ValueError, match="'Variable' belongs to another strategy"):
            extended.colocate_vars_with(plain)
