"""Variables in a step: what the replicas see, and what their assignments become."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax import VariableAggregation, VariableSynchronization
from replax.distribute import MirroredStrategy, OneDeviceStrategy
from running import Runner, compiled, context, eagerly, parts, replica

A = VariableAggregation
ON_READ = VariableSynchronization.ON_READ


@pytest.fixture(scope="module")
def strategy() -> MirroredStrategy:
    return MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])


@pytest.fixture(params=[eagerly, compiled])
def run(request: pytest.FixtureRequest) -> Runner:
    return request.param


def number() -> Any:
    return jnp.asarray(replica(), jnp.float32)


def made(strategy: MirroredStrategy, value: Any, **kwargs: Any) -> Any:
    with strategy.scope():
        return replax.Variable(value, name="v", **kwargs)


class TestAggregation:
    @pytest.mark.parametrize(
        ("aggregation", "joined"),
        [(A.SUM, 15.0), (A.MEAN, 5.0), (A.ONLY_FIRST_REPLICA, 4.0)],
    )
    def test_values_are_joined_first(
        self,
        strategy: MirroredStrategy,
        run: Runner,
        aggregation: A,
        joined: float,
    ) -> None:
        v = made(strategy, 1.0, aggregation=aggregation)

        def step() -> Any:
            v.assign(4 + number())
            first = v.read_value()
            v.assign_add(4 + number())
            v.assign_sub(2 * (4 + number()))
            return first

        assert parts(strategy, run(strategy, step)) == pytest.approx([joined] * 3)
        assert parts(strategy, v) == pytest.approx([0] * 3, abs=1e-5)
        assert len({x.item() for x in v.values}) == 1

    def test_what_the_first_replica_does_not_have_is_not_seen(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, 1.0, aggregation=A.ONLY_FIRST_REPLICA)
        run(strategy, lambda: v.assign(jnp.where(number() > 0, jnp.nan, 7.0)))
        assert parts(strategy, v) == [7] * 3

    def test_trees_and_integers_and_booleans(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, {"n": 1, "b": False, "x": [1.0, 2.0]}, aggregation=A.SUM)

        def step() -> None:
            v.assign_add(
                {"n": replica(), "b": number() > 1, "x": jnp.ones(2) * number()}
            )

        run(strategy, step)
        found = v.numpy()
        assert (found["n"], found["b"], found["x"].tolist()) == (4, True, [4, 5])

    @pytest.mark.parametrize("verb", ["assign", "assign_add", "assign_sub"])
    def test_the_sum_of_one_number_is_ambiguous(
        self, strategy: MirroredStrategy, run: Runner, verb: str
    ) -> None:
        v = made(strategy, 1.0, aggregation=A.SUM)
        with pytest.raises(
            ValueError, match=rf"{verb}\(2.0\) of variable 'v' by 3 repl"
        ):
            run(strategy, lambda: getattr(v, verb)(2.0))
        assert parts(strategy, v) == [1] * 3

    def test_the_sum_of_one_array_is_ambiguous(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, 1.0, aggregation=A.SUM)
        one = jnp.float32(2)

        def given(x: Any) -> None:
            v.assign_add(x)

        def merged() -> None:
            v.assign_add(context().merge_call(lambda _: jnp.ones(()) * 2))

        for step, args in (
            (lambda: v.assign_add(one), ()),
            (given, (one,)),
            (given, (np.array(2, np.float32),)),
            (merged, ()),
        ):
            with pytest.raises(
                ValueError,
                match=r"assign_add\(one array\) .*'v' by 3 .*made in the step",
            ):
                run(strategy, step, *args)
        assert parts(strategy, v) == [1] * 3
        run(strategy, lambda x: v.assign_add(x * 1), one)
        assert parts(strategy, v) == [7] * 3

    def test_the_sum_of_the_replicas_own_numbers_is_not(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, 1, aggregation=A.SUM)
        run(strategy, lambda: v.assign_add(replica()))
        assert parts(strategy, v) == [4] * 3

    def test_numbers_without_doubt(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        for aggregation in (A.NONE, A.MEAN, A.ONLY_FIRST_REPLICA):
            v = made(strategy, 1.0, aggregation=aggregation)
            run(strategy, lambda v=v: v.assign_add(2))
            assert parts(strategy, v) == [3] * 3

    def test_host_arrays(self, strategy: MirroredStrategy, run: Runner) -> None:
        mine = np.ones(1000, np.float32)
        for aggregation, wanted in ((A.NONE, 1), (A.SUM, 3), (A.MEAN, 1)):
            v = made(strategy, np.zeros(1000, np.float32), aggregation=aggregation)
            run(strategy, lambda v=v: v.assign(mine))
            mine[:] = 7
            assert [float(x[0]) for x in v.values] == [wanted] * 3
            mine[:] = 1
            replax.function(lambda v=v: v.assign_add(mine))()
            assert float(v.numpy()[0]) == wanted + 1

    def test_arrays_of_another_device(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        far = jax.device_put(jnp.ones(2), jax.devices()[7])
        v = made(strategy, [0.0, 0.0])
        run(strategy, lambda: v.assign(far))
        assert [x.device.id for x in v.values] == [0, 1, 2]
        assert parts(strategy, v) == [[1, 1]] * 3

    def test_without_aggregation_unequal_values_are_named(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, 1.0)

        def step() -> None:
            v.assign(number())

        with pytest.raises(ValueError, match="'v' has no aggregation") as raised:
            run(strategy, step)
        line = step.__code__.co_firstlineno + 1
        assert f"{__file__}:{line}" in str(raised.value)
        assert parts(strategy, v) == [1] * 3

    def test_after_an_all_reduce_they_are_equal(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, 1.0)
        run(strategy, lambda: v.assign_sub(context().all_reduce("MEAN", number())))
        assert parts(strategy, v) == pytest.approx([0] * 3, abs=1e-6)


class TestAssigningInAStep:
    def test_later_reads_see_it(self, strategy: MirroredStrategy, run: Runner) -> None:
        v = made(strategy, 1.0)

        def step() -> Any:
            seen = [v + 0]
            for _ in range(2):
                v.assign(v * 2)
                seen.append(v.read_value())
            return seen

        found = run(strategy, step)
        assert [parts(strategy, x) for x in found] == [[1] * 3, [2] * 3, [4] * 3]

    def test_the_variable_may_be_returned(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, 1.0)
        assert run(strategy, lambda: v.assign_add(1.0)) is v

    @pytest.mark.parametrize("aggregation", [A.NONE, A.MEAN])
    def test_in_a_gradient(
        self, strategy: MirroredStrategy, run: Runner, aggregation: A
    ) -> None:
        v = made(strategy, 0.0, aggregation=aggregation)

        def loss(x: Any) -> Any:
            v.assign(3 * x)
            return x * x * (v + 1)

        def step() -> Any:
            return jax.grad(loss)(jnp.float32(2))

        assert parts(strategy, run(strategy, step)) == [4 * 7] * 3
        assert parts(strategy, v) == [6] * 3

    @pytest.mark.parametrize(
        "wrap",
        [jax.jit, lambda f: lambda x: jax.vmap(f)(x[None])],
        ids=["jit", "vmap"],
    )
    def test_where_it_would_be_lost_it_is_refused(
        self, strategy: MirroredStrategy, run: Runner, wrap: Any
    ) -> None:
        v = made(strategy, 1.0)

        def inner(x: Any) -> Any:
            v.assign(x)
            return x

        with pytest.raises(RuntimeError, match=r"'v' .*(lost|assign)"):
            run(strategy, lambda: wrap(inner)(jnp.float32(2)))
        assert parts(strategy, v) == [1] * 3

    def test_other_values_are_refused_in_a_step_too(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, [1.0, 2.0])
        with pytest.raises(ValueError, match=r"'v' has shape \(3,\)"):
            run(strategy, lambda: v.assign(jnp.ones(3)))
        with pytest.raises(ValueError, match="'v' has dtype int32"):
            run(strategy, lambda: v.assign(jnp.ones(2, jnp.int32)))


class TestOnRead:
    def test_it_is_local_in_a_step(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, 1.0, synchronization=ON_READ, aggregation=A.SUM)

        def step() -> Any:
            v.assign_add(10 * number())
            v.assign_sub(1.0)
            return v.read_value()

        assert parts(strategy, run(strategy, step)) == [0, 10, 20]
        assert parts(strategy, v) == [0, 10, 20]
        assert float(v) == 30

    @pytest.mark.parametrize(
        ("aggregation", "joined"),
        [(A.SUM, 9.0), (A.MEAN, 3.0), (A.ONLY_FIRST_REPLICA, 2.0)],
    )
    def test_outside_it_is_one_value(
        self,
        strategy: MirroredStrategy,
        run: Runner,
        aggregation: A,
        joined: float,
    ) -> None:
        v = made(strategy, 0.0, synchronization=ON_READ, aggregation=aggregation)
        run(strategy, lambda: v.assign(2 + number()))
        assert float(v.read_value()) == float(v.numpy()) == float(v + 0) == joined
        assert replax.function(lambda: v + 0)() == joined
        with strategy.scope():
            assert float(v) == joined

    def test_without_aggregation_there_is_none(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, 0.0, synchronization=ON_READ)
        assert parts(strategy, run(strategy, lambda: v.assign_add(number()) + 0)) == [
            0,
            1,
            2,
        ]
        for read in (v.read_value, v.numpy, lambda: v + 1, replax.function(v.value)):
            with pytest.raises(
                ValueError, match="'v' has a value on each replica and n"
            ):
                read()
        assert parts(strategy, v) == [0, 1, 2]
        assert [x.tolist() for x in v.values] == [0, 1, 2]

    @pytest.mark.parametrize("where", ["now", "function"])
    @pytest.mark.parametrize(
        ("aggregation", "value", "shares"),
        [
            (A.SUM, 6.0, [2, 2, 2]),
            (A.SUM, 7, [3, 2, 2]),
            (A.SUM, -7, [-1, -3, -3]),
            (A.SUM, 0, [0, 0, 0]),
            (A.SUM, True, [True] * 3),
            (A.MEAN, 6.0, [6, 6, 6]),
            (A.ONLY_FIRST_REPLICA, 6, [6, 6, 6]),
            (A.NONE, 6, [6, 6, 6]),
        ],
    )
    def test_assigning_between_steps(
        self,
        strategy: MirroredStrategy,
        aggregation: A,
        value: Any,
        shares: list[Any],
        where: str,
    ) -> None:
        v = made(
            strategy, type(value)(), synchronization=ON_READ, aggregation=aggregation
        )
        if where == "now":
            v.assign(value)
        else:
            replax.function(lambda: v.assign(value))()
        assert parts(strategy, v) == shares
        if aggregation is not A.NONE:
            assert v.numpy() == value

    @pytest.mark.parametrize("verb", ["assign_add", "assign_sub"])
    def test_adding_to_a_sum_between_steps_is_refused(
        self, strategy: MirroredStrategy, verb: str
    ) -> None:
        v = made(strategy, 1.0, synchronization=ON_READ, aggregation=A.SUM)
        with pytest.raises(
            ValueError, match=f"{verb} of variable 'v' between steps.*use"
        ):
            getattr(v, verb)(1.0)
        with pytest.raises(ValueError, match=f"{verb} of variable 'v' between steps"):
            replax.function(lambda: getattr(v, verb)(1.0))()

    @pytest.mark.parametrize("aggregation", [A.MEAN, A.ONLY_FIRST_REPLICA, A.NONE])
    def test_adding_to_others_adds_to_each(
        self, strategy: MirroredStrategy, aggregation: A
    ) -> None:
        v = made(strategy, 1.0, synchronization=ON_READ, aggregation=aggregation)
        strategy.run(lambda: v.assign_add(number()))
        v.assign_add(2.0)
        v.assign_sub(1.0)
        assert parts(strategy, v) == [2, 3, 4]

    def test_a_tree(self, strategy: MirroredStrategy, run: Runner) -> None:
        v = made(
            strategy, {"n": 0, "x": [0.0]}, synchronization=ON_READ, aggregation=A.SUM
        )
        run(strategy, lambda: v.assign_add({"n": replica(), "x": [number()]}))
        found = v.numpy()
        assert (found["n"], found["x"].tolist()) == (3, [3])

    def test_local_results_in_a_function(self, strategy: MirroredStrategy) -> None:
        v = made(strategy, 0.0, synchronization=ON_READ)
        w = made(strategy, 1.0)
        strategy.run(lambda: v.assign(number()))
        both = replax.function(
            lambda: [strategy.experimental_local_results(x) for x in (v, w)]
        )
        for add in (0, 1):
            found = jax.tree.map(float, both())
            assert found == [(add, 1 + add, 2 + add), (1 + add,) * 3]
            v.assign_add(1.0)
            w.assign_add(1.0)


class TestKeysOfRandomNumbers:
    def test_a_key_is_split_in_a_step(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, jax.random.key(0))

        def step() -> Any:
            mine, rest = jax.random.split(v.read_value())
            v.assign(rest)
            return jax.random.uniform(mine)

        drawn = [parts(strategy, run(strategy, step)) for _ in range(2)]
        assert drawn[0] != drawn[1]
        assert all(len(set(row)) == 1 for row in drawn)

    def test_different_keys_are_named(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, jax.random.key(0))
        with pytest.raises(ValueError, match="'v' has no aggregation"):
            run(
                strategy,
                lambda: v.assign(jax.random.fold_in(v.read_value(), replica())),
            )

    def test_the_first_replicas_key_is_kept(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        # The state of a Flax module with Dropout: a key, and how often it was used.
        state = {"key": jax.random.key(0), "count": jnp.zeros((), jnp.uint32)}
        v = made(strategy, state, aggregation=A.ONLY_FIRST_REPLICA)

        def step() -> None:
            old = v.read_value()
            key = jax.random.fold_in(old["key"], replica())
            v.assign({"key": key, "count": old["count"] + 1 + jnp.uint32(replica())})

        run(strategy, step)
        expected = jax.random.fold_in(jax.random.key(0), 0)
        for copy in strategy.experimental_local_results(v):
            assert copy["key"].dtype == expected.dtype
            numbers = jax.random.key_data(copy["key"])
            assert numbers.tolist() == jax.random.key_data(expected).tolist()
            assert int(copy["count"]) == 1

    def test_keys_have_no_sum(self, strategy: MirroredStrategy, run: Runner) -> None:
        def step() -> None:
            context = replax.distribute.get_replica_context()
            context.all_reduce("SUM", jax.random.key(0))

        message = "all_reduce of a key of random numbers.*no sum; draw from it first"
        with pytest.raises(TypeError, match=message):
            run(strategy, step)


class TestOtherVariables:
    def test_a_plain_variable_is_read_by_all(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = replax.Variable(3.0)

        def step() -> Any:
            return v * number()

        assert parts(strategy, run(strategy, step)) == [0, 3, 6]
        v.assign(4.0)
        assert parts(strategy, run(strategy, step)) == [0, 4, 8]

    def test_a_plain_variable_is_not_assigned_by_many(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = replax.Variable(3.0, name="plain")
        with pytest.raises(
            ValueError, match="'plain' was made outside of the strategy's"
        ):
            run(strategy, lambda: v.assign(1.0))
        assert float(v) == 3

    def test_a_plain_variable_is_assigned_by_one(self, run: Runner) -> None:
        one, v = OneDeviceStrategy("CPU:3"), replax.Variable(3.0)
        run(one, lambda: v.assign_add(1.0))
        assert float(v) == 4

    def test_under_another_strategys_scope(self, strategy: MirroredStrategy) -> None:
        v = made(strategy, 1.0)
        for other in (OneDeviceStrategy("CPU:0"), MirroredStrategy(["CPU:0", "CPU:1"])):
            with other.scope(), pytest.raises(RuntimeError, match="another strategy"):
                v.assign(2.0)
            with other.scope():
                assert float(v) == 1
            with pytest.raises(RuntimeError, match="'v', which belongs to another"):
                other.run(lambda: v.assign(2.0))
            found = other.run(lambda: v + number())
            assert parts(other, found)[0] == 1
        assert parts(strategy, v) == [1] * 3

    def test_outside_of_every_scope_it_is_assigned(
        self, strategy: MirroredStrategy
    ) -> None:
        v = made(strategy, 1.0)
        v.assign(2.0)
        with strategy.scope():
            v.assign_add(1.0)
        assert parts(strategy, v) == [3] * 3

    def test_a_variable_made_in_an_eager_step_is_one_for_all(
        self, strategy: MirroredStrategy
    ) -> None:
        def step() -> Any:
            return replax.Variable(lambda: jnp.ones(2), aggregation=A.SUM)

        v = strategy.run(step)
        assert isinstance(v, replax.Variable)
        assert parts(strategy, v) == [[1, 1]] * 3
        strategy.run(lambda: v.assign_add(jnp.ones(2)))
        assert parts(strategy, v) == [[4, 4]] * 3


class TestHandedOutValues:
    def test_they_outlive_later_steps(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        v = made(strategy, jnp.zeros(1000), aggregation=A.SUM)

        def step() -> Any:
            before = v.read_value()
            v.assign_add(jnp.ones(1000))
            return before, v.read_value()

        results = [run(strategy, step) for _ in range(3)]
        for index, (before, after) in enumerate(results):
            for value, wanted in ((before, 3000 * index), (after, 3000 * (index + 1))):
                assert [float(x.sum()) for x in value.values] == [wanted] * 3
