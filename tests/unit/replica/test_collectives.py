"""`all_reduce` and `all_gather`, run eagerly and compiled, and their gradients."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax._src.replica.packing import LARGEST_PACKED
from replax.distribute import MirroredStrategy
from running import Runner, compiled, context, eagerly, parts, replica

REPLICAS = 3


@pytest.fixture(scope="module")
def strategy() -> MirroredStrategy:
    return MirroredStrategy([f"CPU:{i}" for i in range(REPLICAS)])


@pytest.fixture(params=[eagerly, compiled])
def run(request: pytest.FixtureRequest) -> Runner:
    return request.param


def number() -> Any:
    return jnp.asarray(replica(), jnp.float32)


class TestAllReduce:
    def test_a_nest(self, strategy: MirroredStrategy, run: Runner) -> None:
        def step() -> Any:
            nest = {"b": True, "i": 3, "f": 2.5, "none": None, "x": [number()]}
            return [context().all_reduce(op, nest) for op in ("sum", "Mean")]

        total, mean = run(strategy, step)
        assert total["none"] is mean["none"] is None
        values = [[parts(strategy, t[k]) for k in "bif"] for t in (total, mean)]
        assert values == [[[3] * 3, [9] * 3, [7.5] * 3], [[1] * 3, [3] * 3, [2.5] * 3]]
        assert parts(strategy, total["x"][0]) == [3] * 3
        assert parts(strategy, mean["x"][0]) == [1] * 3

    def test_an_empty_nest(self, strategy: MirroredStrategy, run: Runner) -> None:
        found = run(strategy, lambda: context().all_reduce("SUM", {"a": (), "b": None}))
        assert found == {"a": (), "b": None}

    def test_dtypes(self, strategy: MirroredStrategy, run: Runner) -> None:
        def step() -> Any:
            one = {t: jnp.ones(2, t) for t in ("int8", "int32", "float16", "complex64")}
            return [context().all_reduce(op, one) for op in ("SUM", "MEAN")]

        total, mean = run(strategy, step)
        for dtype, value in total.items():
            assert value.values[0].dtype == dtype
        assert [mean[t].values[0].dtype.name for t in mean] == [
            "complex64",
            "float16",
            "float32",
            "float32",
        ]

    def test_arrays_that_are_sent_together_and_alone(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        shapes = [(LARGEST_PACKED + 1,), (2, 3), (), (0, 2), (LARGEST_PACKED,)]

        def step() -> Any:
            arrays = [
                jnp.full(shape, 10 * i + replica(), dtype)
                for i, shape in enumerate(shapes)
                for dtype in ("float32", "int32")
            ]
            return context().all_reduce("SUM", arrays)

        for position, total in enumerate(run(strategy, step)):
            i = position // 2
            for index, part in enumerate(total.values):
                assert part.device == jax.devices()[index]
                np.testing.assert_array_equal(part, np.full(shapes[i], 30 * i + 3))

    def test_a_mean_of_small_integers_does_not_overflow(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        found = run(strategy, lambda: context().all_reduce("MEAN", np.uint8(255)))
        assert parts(strategy, found) == [255] * 3

    def test_a_variable_is_its_value(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        with strategy.scope():
            v = replax.Variable(2.0)
            tree = replax.Variable({"w": [1.0, 2.0]})

        def step() -> Any:
            return context().all_reduce("SUM", {"v": v, "tree": tree})

        found = run(strategy, step)
        assert parts(strategy, found["v"]) == [6] * 3
        assert parts(strategy, found["tree"]["w"]) == [[3, 6]] * 3

    @pytest.mark.parametrize("value", ["text", b"x", np.array(["a"]), object()])
    def test_what_cannot_be_added_is_named(
        self, strategy: MirroredStrategy, run: Runner, value: Any
    ) -> None:
        with pytest.raises(TypeError, match=r"all_reduce of .*only arrays and numbers"):
            run(strategy, lambda: context().all_reduce("SUM", [value]))

    @pytest.mark.parametrize("value", [2**40, np.array([2**40])])
    def test_what_does_not_fit_is_named(
        self, strategy: MirroredStrategy, run: Runner, value: Any
    ) -> None:
        with pytest.raises(OverflowError, match=f"all_reduce holds {2**40}, which"):
            run(strategy, lambda: context().all_reduce("SUM", value))

    def test_an_unknown_operation(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        with pytest.raises(ValueError, match="'AVG' is not a way to reduce"):
            run(strategy, lambda: context().all_reduce("AVG", 1.0))


class TestAllGather:
    @pytest.mark.parametrize("axis", [0, 1, -1, np.int64(0)])
    def test_axes(self, strategy: MirroredStrategy, run: Runner, axis: int) -> None:
        found = run(
            strategy,
            lambda: context().all_gather({"x": jnp.ones((2, 3)) * replica()}, axis),
        )
        rows = [np.full((2, 3), i) for i in range(REPLICAS)]
        for part in found["x"].values:
            np.testing.assert_array_equal(part, np.concatenate(rows, axis))

    def test_lengths_may_differ(self, strategy: MirroredStrategy) -> None:
        def step() -> Any:
            return context().all_gather(jnp.full((replica(), 2), replica()), 0)

        assert parts(strategy, strategy.run(step)) == [[[1, 1], [2, 2], [2, 2]]] * 3

    def test_booleans_stay_booleans(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        def step() -> Any:
            return context().all_gather(jnp.array([replica() == 1]), 0)

        assert parts(strategy, run(strategy, step)) == [[False, True, False]] * 3

    @pytest.mark.parametrize("axis", [1, -2])
    def test_an_axis_out_of_range(
        self, strategy: MirroredStrategy, run: Runner, axis: int
    ) -> None:
        with pytest.raises(ValueError, match=r"shape \(2,\); a value of rank 1 has no"):
            run(strategy, lambda: context().all_gather(jnp.ones(2), axis))

    @pytest.mark.parametrize("axis", [None, "0", 1.0])
    def test_an_axis_of_another_type(
        self, strategy: MirroredStrategy, run: Runner, axis: Any
    ) -> None:
        with pytest.raises(TypeError, match=f"axis is {axis!r}; give the dimension"):
            run(strategy, lambda: context().all_gather(jnp.ones(2), axis))

    def test_nothing_is_gathered_of_empty_values(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        found = run(strategy, lambda: context().all_gather(jnp.zeros((0, 2)), 0))
        assert [v.shape for v in found.values] == [(0, 2)] * 3


class TestTransformations:
    """The gradient of an all-reduce is the all-reduce of the gradients."""

    @pytest.mark.parametrize(("op", "wanted"), [("SUM", 24.0), ("MEAN", 8.0)])
    @pytest.mark.parametrize("wrap", [lambda f: f, jax.checkpoint])
    def test_gradient_of_all_reduce(
        self,
        strategy: MirroredStrategy,
        run: Runner,
        op: str,
        wanted: float,
        wrap: Any,
    ) -> None:
        def loss(x: Any) -> Any:
            return context().all_reduce(op, x * x) * (1.0 + number())

        def step() -> Any:
            return jax.value_and_grad(wrap(loss))(jnp.float32(2))

        value, slope = run(strategy, step)
        scale = 3 if op == "SUM" else 1
        assert parts(strategy, value) == [4 * scale * (1 + i) for i in range(3)]
        assert parts(strategy, slope) == [wanted] * 3

    def test_only_what_moves_has_a_gradient(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        def loss(x: Any) -> Any:
            total = context().all_reduce("SUM", {"x": x, "i": 3, "c": jnp.ones(2)})
            return total["x"] * total["c"].sum() * total["i"]

        found = run(strategy, lambda: jax.grad(loss)(jnp.float32(2)))
        assert parts(strategy, found) == [3 * 6 * 9] * 3

    def test_jvp(self, strategy: MirroredStrategy, run: Runner) -> None:
        def step() -> Any:
            return jax.jvp(
                lambda x: context().all_reduce("SUM", x), (number(),), (number() + 1,)
            )

        value, tangent = run(strategy, step)
        assert parts(strategy, value) == [3] * 3
        assert parts(strategy, tangent) == [6] * 3

    def test_second_derivatives(self, strategy: MirroredStrategy, run: Runner) -> None:
        def cube(x: Any) -> Any:
            return context().all_reduce("MEAN", x**3)

        found = run(strategy, lambda: jax.grad(jax.grad(cube))(jnp.float32(2)))
        assert parts(strategy, found) == [12] * 3

    def test_gradient_of_all_gather_is_the_sum_at_its_own_rows(
        self, strategy: MirroredStrategy, run: Runner
    ) -> None:
        weights = jnp.arange(6.0)

        def loss(x: Any) -> Any:
            return (context().all_gather(x * x, 0) * weights * (1.0 + number())).sum()

        found = run(strategy, lambda: jax.grad(loss)(jnp.array([1.0, 2.0])))
        wanted = [[6 * 2 * w0, 6 * 4 * w1] for w0, w1 in ((0, 1), (2, 3), (4, 5))]
        assert parts(strategy, found) == wanted

    def test_gradient_of_a_ragged_all_gather(self, strategy: MirroredStrategy) -> None:
        def loss(x: Any) -> Any:
            rows = context().all_gather(x, 0)
            return (rows * jnp.arange(3.0)).sum()

        found = strategy.run(lambda: jax.grad(loss)(jnp.ones(replica())))
        assert parts(strategy, found) == [[], [0], [3, 6]]

    def test_vmap(self, strategy: MirroredStrategy, run: Runner) -> None:
        def step() -> Any:
            rows = jnp.arange(6.0).reshape(2, 3) + replica()
            total = jax.vmap(lambda x: context().all_reduce("SUM", x), 1, 1)(rows)
            joined = jax.vmap(lambda x: context().all_gather(x, 0))(rows)
            both = jax.vmap(lambda x: context().all_reduce("SUM", (x, 1.0)))(rows)
            return total, joined, both[1]

        total, joined, ones = run(strategy, step)
        rows = np.arange(6.0).reshape(2, 3)
        for part in total.values:
            np.testing.assert_array_equal(part, 3 * rows + 3)
        for part in joined.values:
            np.testing.assert_array_equal(
                part, np.concatenate([rows, rows + 1, rows + 2], 1)
            )
        assert parts(strategy, ones) == [[3, 3]] * 3

    def test_vmap_of_a_gradient(self, strategy: MirroredStrategy, run: Runner) -> None:
        def square(x: Any) -> Any:
            return context().all_reduce("SUM", x * x)

        found = run(strategy, lambda: jax.vmap(jax.grad(square))(jnp.arange(3.0)))
        assert parts(strategy, found) == [[0, 6, 12]] * 3


def test_a_context_that_is_kept_does_not_work_later(
    strategy: MirroredStrategy,
) -> None:
    kept: list[Any] = []
    strategy.run(lambda: kept.append(context()))
    assert repr(kept[1]) == "ReplicaContext(replica 1 of 3)"
    with strategy.scope(), pytest.raises(RuntimeError, match="not the running one"):
        kept[0].all_reduce("SUM", 1.0)
    with pytest.raises(RuntimeError, match="not the running one"):
        strategy.run(lambda: kept[0].all_reduce("SUM", 1.0))
