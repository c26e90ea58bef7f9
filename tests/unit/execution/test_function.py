"""What `replax.function` promises: one program, and none of the traps around it."""

from __future__ import annotations

import enum
import logging
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from flax.errors import TraceContextError
from jax import lax

import replax
from replax.distribute import MirroredStrategy, get_replica_context


@pytest.fixture
def strategy() -> MirroredStrategy:
    return MirroredStrategy(["CPU:0", "CPU:1"])


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING, "replax")
    return caplog


class TestTracing:
    def test_it_is_traced_once_for_equal_shapes(self) -> None:
        traces = []

        @replax.function
        def double(x: Any) -> Any:
            traces.append(x.shape)
            return 2 * x

        for value in ([1.0, 2.0], [3.0, 4.0]):
            np.testing.assert_array_equal(double(jnp.array(value)), 2 * np.array(value))
        np.testing.assert_array_equal(double(jnp.ones(3)), [2, 2, 2])
        assert traces == [(2,), (3,)]

    def test_a_dtype_a_structure_or_a_static_value_traces_again(self) -> None:
        traces = []

        class Mode(enum.Enum):
            ADD = 1
            SUB = 2

        @replax.function
        def combine(pair: dict[str, Any], mode: Any = None) -> Any:
            traces.append(mode)
            sign = -1 if mode is Mode.SUB else 1
            return sum(sign * v for v in pair.values())

        one, two = jnp.int32(1), jnp.float32(2)
        assert combine({"a": one}) == 1
        assert combine({"a": two}) == 2
        assert combine({"a": one, "b": one}) == 2
        assert combine({"a": one}, Mode.SUB) == -1
        assert combine({"a": one}, Mode.ADD) == 1
        assert combine({"a": one + 1}, Mode.SUB) == -2
        assert len(traces) == 5

    def test_python_numbers_are_inputs(self) -> None:
        traces = []

        @replax.function
        def square(x: Any) -> Any:
            traces.append(1)
            return x * x

        assert [int(square(i)) for i in range(5)] == [0, 1, 4, 9, 16]
        assert float(square(1.5)) == 2.25
        assert len(traces) == 2

    def test_numbers_can_be_made_static(self, warned: pytest.LogCaptureFixture) -> None:
        seen = []

        @replax.function(static_numbers=True)
        def repeat(n: int) -> Any:
            seen.append(n)
            return jnp.zeros(n)

        assert [repeat(n).shape for n in (1, 2, 1)] == [(1,), (2,), (1,)]
        assert seen == [1, 2]
        for n in range(3, 9):
            repeat(n)
        assert "compiled for 8 different Python numbers" in warned.text

    def test_the_tenth_compile_is_told(self, warned: pytest.LogCaptureFixture) -> None:
        @replax.function
        def total(x: Any) -> Any:
            return x.sum()

        for n in range(12):
            total(jnp.zeros(n))
        assert warned.text.count("has been compiled 10 times") == 1
        assert "total" in warned.text

    def test_the_step_that_is_compiled_often_is_told(
        self, warned: pytest.LogCaptureFixture
    ) -> None:
        @replax.function
        def step(x: Any, mode: str) -> Any:
            return x.sum(), mode

        for n in range(12):
            replax.distribute.get_strategy().run(step, (jnp.zeros(n), "fast"))
        assert "step has been compiled 10 times" in warned.text
        assert "_run_as_program" not in warned.text
        assert "'fast'" in warned.text

    def test_none_strings_and_nests_pass_through(self) -> None:
        @replax.function
        def pack(pair: Any, label: str, nothing: None, flag: bool) -> Any:
            assert nothing is None
            assert flag is True
            return {"sum": pair[0] + pair[1]["b"], "label": label, "nothing": nothing}

        result = pack((jnp.int32(1), {"b": jnp.int32(2)}), "x", None, True)
        assert (int(result["sum"]), result["label"], result["nothing"]) == (
            3,
            "x",
            None,
        )

    def test_weak_types_stay_weak(self) -> None:
        @replax.function
        def half(x: Any) -> Any:
            return x * jnp.ones((), jnp.bfloat16)

        assert half(0.5).dtype == jnp.bfloat16
        assert half(jnp.float32(0.5)).dtype == jnp.float32

    def test_an_integer_that_does_not_fit_is_named(self) -> None:
        big = 2**40 + 5
        identity = replax.function(lambda x, y=None: x)
        with pytest.raises(OverflowError, match=rf"argument \[0\].*{big}.*x64"):
            identity(big)
        with pytest.raises(OverflowError, match=rf"\[0\]\['a'\]\[1\].*{big}"):
            identity({"a": [1, np.array([3, big])]})
        with pytest.raises(OverflowError, match=r"by name \['y'\]"):
            identity(1, y=np.int64(big))

    def test_wide_values_stay_wide_with_x64(self) -> None:
        with jax.enable_x64(True):
            identity = replax.function(lambda x: x)
            assert int(identity(np.array([2**40 + 5]))[0]) == 2**40 + 5

    def test_functions_nest(self) -> None:
        @replax.function
        def inner(x: Any) -> Any:
            return x + 1

        @replax.function
        def outer(x: Any) -> Any:
            return inner(x) * inner(x)

        assert int(outer(jnp.int32(2))) == 9

    def test_a_function_can_be_transformed(self) -> None:
        v = replax.Variable(3.0)

        @replax.function
        def loss(w: Any) -> Any:
            return v * w * w

        assert float(jax.grad(loss)(2.0)) == 12.0
        np.testing.assert_allclose(jax.vmap(loss)(jnp.arange(3.0)), [0, 3, 12])

    def test_methods_are_functions_of_their_object(self) -> None:
        class Model:
            def __init__(self, scale: float) -> None:
                self.scale = replax.Variable(scale)

            @replax.function
            def __call__(self, x: Any) -> Any:
                return self.scale * x

            @replax.function
            def double(self, x: Any) -> Any:
                return 2 * self.scale * x

        small, large = Model(1.0), Model(10.0)
        assert [float(small.double(1.0)), float(large.double(1.0))] == [2.0, 20.0]
        assert [float(small(1.0)), float(large(1.0))] == [1.0, 10.0]


class TestInputSignature:
    def test_arguments_are_checked_and_converted(self) -> None:
        traces = []

        @replax.function(input_signature=[replax.TensorSpec([None, 2], "float32")])
        def total(x: Any) -> Any:
            traces.append(1)
            return x.sum()

        assert float(total([[1, 2], [3, 4]])) == 10
        with pytest.raises(TypeError, match=r"float32\[3\].*TensorSpec"):
            total(np.zeros(3, np.float32))
        with pytest.raises(TypeError, match=r"int32\[1, 2\]"):
            total(np.zeros((1, 2), np.int32))
        with pytest.raises(TypeError, match=r"takes 1 arguments .* given 2"):
            total([[1.0, 2.0]], 3)

    def test_a_nest_of_specs(self) -> None:
        spec = {"a": replax.TensorSpec([], "int32"), "b": [replax.TensorSpec(None)]}

        @replax.function(input_signature=[spec])
        def pick(d: Any) -> Any:
            return d["a"] + d["b"][0].size

        assert int(pick({"a": 1, "b": [np.zeros((2, 3), np.float32)]})) == 7
        with pytest.raises(TypeError, match="structure"):
            pick({"a": 1})


class TestVariables:
    def test_reads_and_writes_in_program_order(self) -> None:
        v = replax.Variable(1.0)

        @replax.function
        def step(x: Any) -> Any:
            before = v.read_value()
            v.assign_add(x)
            middle = v * 1
            v.assign(v * 2)
            return before, middle, v.read_value()

        assert [float(x) for x in step(2.0)] == [1.0, 3.0, 6.0]
        assert [float(x) for x in step(1.0)] == [6.0, 7.0, 14.0]
        assert v.numpy() == 14.0

    def test_a_failing_call_changes_nothing(self) -> None:
        v = replax.Variable(1.0)

        @replax.function
        def fail() -> None:
            v.assign(5.0)
            message = "on purpose"
            raise KeyError(message)

        with pytest.raises(KeyError, match="on purpose"):
            fail()
        assert v.numpy() == 1.0

    def test_a_module_level_jit_reads_the_present_value(self) -> None:
        v = replax.Variable(1.0)

        @jax.jit
        def inner(x: Any) -> Any:
            return x + v.read_value()

        @replax.function
        def outer(x: Any) -> Any:
            return inner(x) + inner(x)

        assert float(outer(jnp.float32(1))) == 4
        v.assign(10.0)
        assert float(outer(jnp.float32(1))) == 22
        np.testing.assert_array_equal(outer(jnp.ones(2)), [22, 22])

    @pytest.mark.parametrize("wrap", ["scan", "fori", "cond", "vmap", "checkpoint"])
    def test_a_loop_body_reads_the_present_value(self, wrap: str) -> None:
        v = replax.Variable(2.0)

        def body(x: Any) -> Any:
            return x + v.read_value()

        ways = {
            "scan": lambda x: lax.scan(lambda c, _: (body(c), None), x, None, 1)[0],
            "fori": lambda x: lax.fori_loop(0, 1, lambda _, c: body(c), x),
            "cond": lambda x: lax.cond(x.sum() > -1, body, lambda y: y, x),
            "vmap": jax.vmap(body),
            "checkpoint": jax.checkpoint(body),
        }
        step = replax.function(ways[wrap])
        np.testing.assert_array_equal(step(jnp.ones(2)), [3, 3])
        v.assign(4.0)
        np.testing.assert_array_equal(step(jnp.ones(2)), [5, 5])
        np.testing.assert_array_equal(step(jnp.ones(3)), [5, 5, 5])

    def test_somebody_elses_jit_is_refused(self) -> None:
        v = replax.Variable(1.0, name="weight")
        for use in (
            lambda x: x + v.read_value(),
            lambda x: x + v,
            lambda x: v.assign(2 * x),
        ):
            with pytest.raises(RuntimeError, match=r"'weight'.*replax\.function"):
                jax.jit(use)(1.0)
        np.testing.assert_allclose(jax.jit(lambda w: w * 2)(v.read_value()), 2.0)

    @pytest.mark.parametrize("wrap", ["jit", "scan", "vmap"])
    def test_an_assignment_that_would_be_lost_is_refused(self, wrap: str) -> None:
        v = replax.Variable(0.0, name="weight")

        def lose(x: Any) -> Any:
            v.assign(x)
            return x

        ways = {
            "jit": jax.jit(lose),
            "scan": lambda x: lax.scan(lambda c, _: (lose(c), None), x, None, 2)[0],
            "vmap": lambda x: jax.vmap(lose)(x[None]),
        }
        with pytest.raises(RuntimeError, match=r"'weight'.*test_function\.py.*lost"):
            replax.function(ways[wrap])(jnp.float32(1))

    def test_an_assignment_under_grad_has_no_gradient(self) -> None:
        v, seen = replax.Variable(3.0), replax.Variable(0.0)

        @replax.function
        def gradient(x: Any) -> Any:
            def loss(w: Any) -> Any:
                value = w * w * x
                seen.assign(value)
                return value

            return jax.grad(loss)(v.read_value())

        assert float(gradient(2.0)) == 12.0
        assert seen.numpy() == 18.0

    def test_values_handed_out_outlive_donating_steps(self) -> None:
        v = replax.Variable([1.0, 2.0])
        bump = replax.function(lambda: v.assign_add([1.0, 1.0]))
        bump()
        handed = [
            v.read_value(),
            jnp.asarray(v),
            v.numpy(),
            np.asarray(v.read_value()),
            jax.device_put(v.read_value(), jax.devices()[0]),
            jax.tree.leaves(v)[0],
        ]
        for _ in range(3):
            bump()
        for value in handed:
            np.testing.assert_array_equal(value, [2, 3])
        np.testing.assert_array_equal(v.numpy(), [5, 6])

    def test_assigned_arrays_outlive_donating_steps(self) -> None:
        v = replax.Variable(jnp.zeros(3))
        mine, host = jnp.ones(3), np.ones(3, np.float32)
        bump = replax.function(lambda: v.assign_add(jnp.ones(3)))
        for value in (mine, host):
            v.assign(value)
            bump()
            bump()
            np.testing.assert_array_equal(value, [1, 1, 1])
        np.testing.assert_array_equal(v.numpy(), [3, 3, 3])

    def test_steps_donate(self) -> None:
        v = replax.Variable(jnp.zeros(1000))
        bump = replax.function(lambda: v.assign_add(jnp.ones(1000)))
        bump()
        (before,) = v.store.join()
        bump()
        assert before.is_deleted()

    def test_arguments_of_a_signature_by_name(self) -> None:
        spec = replax.TensorSpec([2], np.float32)

        @replax.function(input_signature=[spec, replax.TensorSpec([], np.int32)])
        def scaled(x: Any, n: Any) -> Any:
            return x * n

        assert scaled(n=2, x=[1.0, 2.0]).tolist() == [2, 4]
        assert scaled([1.0, 2.0], n=3).tolist() == [3, 6]
        with pytest.raises(TypeError, match="missing a required argument: 'x'"):
            scaled(n=2)
        with pytest.raises(TypeError, match="does not fit its input_signature"):
            scaled([1.0, 2.0], 2.5)

    def test_a_variable_is_an_argument_and_a_result(self) -> None:
        v = replax.Variable(3.0)

        @replax.function
        def add(variable: Any, x: Any) -> Any:
            variable.assign_add(x)
            return variable, variable.read_value()

        same, value = add(v, 2.0)
        assert same is v
        assert float(value) == 5.0


class TestCreation:
    def test_the_first_call_creates(self) -> None:
        class Layer:
            w: Any = None

        layer = Layer()

        @replax.function
        def apply(x: Any) -> Any:
            if layer.w is None:
                layer.w = replax.Variable(2 * jnp.ones(3), name="w")
            layer.w.assign_add(x * jnp.ones(3))
            return layer.w.read_value()

        np.testing.assert_array_equal(apply(1.0), [3, 3, 3])
        np.testing.assert_array_equal(apply(1.0), [4, 4, 4])
        np.testing.assert_array_equal(apply(jnp.float32(1)), [5, 5, 5])

    def test_creating_again_is_refused(self) -> None:
        @replax.function
        def always(x: Any) -> Any:
            return replax.Variable(1.0) + x

        with pytest.raises(ValueError, match="created in a function that was traced"):
            always(1.0)

    def test_an_initial_value_may_not_depend_on_an_argument(self) -> None:
        @replax.function
        def depends(x: Any) -> Any:
            return replax.Variable(x * 2, name="late").read_value()

        with pytest.raises(ValueError, match=r"'late' depends on an argument"):
            depends(1.0)

    def test_an_initial_value_may_depend_on_another_variable(self) -> None:
        base = replax.Variable(3.0)
        made: list[Any] = []

        @replax.function
        def build() -> Any:
            if not made:
                made.append(replax.Variable(base * 2))
            return made[0].read_value()

        assert float(build()) == 6.0


class TestCaptures:
    def test_a_function_made_anew_is_not_compiled_anew(
        self, strategy: MirroredStrategy
    ) -> None:
        traces = []
        scale = replax.Variable(2.0)

        def call(x: float) -> Any:
            @replax.function
            def step(y: Any) -> Any:
                def inner(z: Any) -> Any:
                    traces.append(1)
                    return z * scale

                return strategy.run(inner, args=(y,))

            return strategy.experimental_local_results(step(x))

        assert [float(call(float(i))[1]) for i in range(4)] == [0, 2, 4, 6]
        assert len(traces) == 1

    def test_captured_arrays_are_inputs(self) -> None:
        traces = []

        def call(scale: float) -> float:
            w, n = jnp.ones(2) * scale, np.full(100, scale, np.float32)

            def step(x: Any) -> Any:
                traces.append(1)
                return (x * w).sum() + jnp.sum(n)

            return float(replax.function(step)(1.0))

        assert [call(s) for s in (0.0, 1.0, 2.0)] == [0.0, 102.0, 204.0]
        assert len(traces) == 1

    def test_a_rebound_name_is_seen(self) -> None:
        w, lr = jnp.ones(2), 0.5

        @replax.function
        def step(x: Any) -> Any:
            return x - lr * w

        np.testing.assert_allclose(step(1.0), [0.5, 0.5])
        w = jnp.array([2.0, 4.0])
        np.testing.assert_allclose(step(1.0), [0.0, -1.0])
        lr = 0.25
        np.testing.assert_allclose(step(1.0), [0.5, 0.0])
        w = jnp.ones(3)
        np.testing.assert_allclose(step(1.0), [0.75] * 3)

    def test_contents_of_containers_are_seen(self) -> None:
        params = {"w": jnp.ones(2), "scale": 2.0}
        history: list[Any] = [jnp.zeros(2)]

        @replax.function
        def step(x: Any) -> Any:
            return x * params["w"] * params["scale"] + history[-1]

        np.testing.assert_allclose(step(1.0), [2, 2])
        params["w"] = 3 * jnp.ones(2)
        np.testing.assert_allclose(step(1.0), [6, 6])
        params["scale"] = 1.0
        np.testing.assert_allclose(step(1.0), [3, 3])
        history.append(jnp.ones(2))
        np.testing.assert_allclose(step(1.0), [4, 4])

    def test_an_array_used_by_numpy_is_seen(self) -> None:
        n = np.arange(100.0)

        @replax.function
        def step(x: Any) -> Any:
            return x + n.sum()

        assert float(step(0.0)) == 4950
        n = np.ones(100)
        assert float(step(0.0)) == 100

    def test_an_array_in_an_inner_jit_is_seen(self) -> None:
        w = jnp.ones(2)

        @replax.function
        def step(x: Any) -> Any:
            return jax.jit(lambda y: y * w)(x)

        np.testing.assert_allclose(step(1.0), [1, 1])
        w = 2 * jnp.ones(2)
        np.testing.assert_allclose(step(1.0), [2, 2])

    def test_a_counter_does_not_retrace(self) -> None:
        count = 0

        @replax.function
        def step(x: Any) -> Any:
            nonlocal count
            count += 1
            return x + 1

        for _ in range(3):
            step(1.0)
        assert count == 1

    def test_attributes_of_objects_are_seen(self) -> None:
        traces = []

        class Model:
            def __init__(self) -> None:
                self.w = jnp.ones(2)
                self.scale = 2.0
                self.layers = {"b": jnp.zeros(2)}

            @replax.function
            def __call__(self, x: Any) -> Any:
                traces.append(1)
                self.calls = len(traces)
                return x * self.w * self.scale + self.layers["b"]

        model = Model()
        np.testing.assert_allclose(model(1.0), [2, 2])
        model.w = jnp.array([1.0, 2.0])
        np.testing.assert_allclose(model(1.0), [2, 4])
        model.layers["b"] = jnp.ones(2)
        np.testing.assert_allclose(model(1.0), [3, 5])
        assert len(traces) == 1
        model.scale = 1.0
        np.testing.assert_allclose(model(1.0), [2, 3])
        assert len(traces) == 2

    def test_captured_per_replica_values(self, strategy: MirroredStrategy) -> None:
        make = strategy.experimental_distribute_values_from_function
        value = make(lambda c: jnp.full(2, float(c.replica_id_in_sync_group)))

        @replax.function
        def total() -> Any:
            return strategy.gather(value, axis=0)

        np.testing.assert_array_equal(total(), [0, 0, 1, 1])
        value = make(lambda c: jnp.ones(1 + c.replica_id_in_sync_group))
        np.testing.assert_array_equal(total(), [1, 1, 1])

    def test_arrays_of_any_device_are_taken(self, strategy: MirroredStrategy) -> None:
        far = jax.device_put(jnp.ones(2), jax.devices()[5])

        @replax.function
        def step(x: Any) -> Any:
            per = strategy.run(lambda a: a + far, args=(x,))
            return strategy.reduce("SUM", per, axis=None)

        np.testing.assert_array_equal(step(far), [4, 4])


class TestModules:
    def test_a_captured_module_may_be_read(self, strategy: MirroredStrategy) -> None:
        model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
        x = jnp.ones((4, 2))

        @replax.function
        def apply(x: Any) -> Any:
            return strategy.run(model, args=(x,))

        for _ in range(2):
            result = strategy.experimental_local_results(apply(x))[1]
            np.testing.assert_allclose(result, model(x), rtol=1e-6)
            model.kernel[...] = 2 * model.kernel[...]

    def test_a_captured_module_that_is_changed_is_an_error_that_shows_how(
        self, strategy: MirroredStrategy
    ) -> None:
        model = nnx.BatchNorm(2, rngs=nnx.Rngs(0))

        @replax.function
        def apply(x: Any) -> Any:
            return strategy.run(model, args=(x,))

        with pytest.raises(TraceContextError, match="BatchStat") as caught:
            apply(jnp.ones((4, 2)))
        notes = "".join(caught.value.__notes__)
        assert "nnx.merge(graph, state.read_value())" in notes

    def test_so_it_is_in_an_eager_step(self, strategy: MirroredStrategy) -> None:
        model = nnx.BatchNorm(2, rngs=nnx.Rngs(0))
        with pytest.raises(ValueError, match="incompatible devices") as caught:
            strategy.run(model, args=(jnp.ones((4, 2)),))
        assert "nnx.merge" in "".join(caught.value.__notes__)


class TestHostPrograms:
    def test_data_dependent_python_runs_as_python(
        self, warned: pytest.LogCaptureFixture
    ) -> None:
        v = replax.Variable(0.0)

        @replax.function
        def count(n: Any) -> Any:
            v.assign_add(1.0)
            k = 0
            while k * k < n:
                k = k + 1
            return k

        assert [count(9), count(10)] == [3, 4]
        assert v.numpy() == 2.0  # what the abandoned trace did is undone
        assert warned.text.count("runs as Python") == 1
        line = count.python_function.__code__.co_firstlineno + 4
        assert f"test_function.py:{line} (count)" in warned.text

    def test_each_run_in_it_is_compiled(self, strategy: MirroredStrategy) -> None:
        traces = []

        @replax.function
        def train(batches: Any) -> Any:
            total = 0.0
            for batch in batches:

                def step(x: Any) -> Any:
                    traces.append(1)
                    return get_replica_context().all_reduce("SUM", x)

                per = strategy.run(step, args=(batch,))
                total += strategy.reduce("MEAN", per, axis=None)
                if total > 20:
                    break
            return total

        assert float(train(iter([1.0, 2.0, 30.0, 4.0]))) == 66.0
        assert float(train(iter([1.0, 2.0]))) == 6.0
        assert len(traces) == 1

    def test_a_step_that_asks_for_values_runs_eagerly(
        self, strategy: MirroredStrategy
    ) -> None:
        def step(x: Any) -> Any:
            return 1 * x if x > 1 else -x

        compiled = replax.function(step)
        for value, expected in ((1.0, -1.0), (2.0, 2.0)):
            results = strategy.run(compiled, args=(jnp.float32(value),))
            local = strategy.experimental_local_results(results)
            assert [float(r) for r in local] == [expected] * 2

    def test_strategies_over_different_devices(self) -> None:
        one = MirroredStrategy(["CPU:0", "CPU:1"])
        two = MirroredStrategy(["CPU:2", "CPU:3"])

        @replax.function
        def both(x: Any) -> Any:
            a = one.reduce("SUM", one.run(lambda y: y + 1, args=(x,)), axis=None)
            b = two.reduce("SUM", two.run(lambda y: y + 2, args=(x,)), axis=None)
            return a + b

        assert float(both(1.0)) == 10.0


class TestPlacement:
    def test_one_device_strategy(self) -> None:
        strategy = replax.distribute.OneDeviceStrategy("CPU:3")
        with strategy.scope():
            v = replax.Variable(1.0)

        @replax.function
        def step(x: Any) -> Any:
            return strategy.run(lambda y: v.assign_add(y) * 2, args=(x,))

        result = step(1.0)
        assert float(result) == 4.0
        assert result.device == jax.devices()[3]
        assert v.read_value().device == jax.devices()[3]

    def test_a_plain_variable_in_a_program_of_many_replicas(
        self, strategy: MirroredStrategy
    ) -> None:
        plain = replax.Variable(1.0)
        with strategy.scope():
            mirrored = replax.Variable(2.0)

        @replax.function
        def step() -> Any:
            per = strategy.run(lambda: mirrored * plain)
            plain.assign_add(strategy.reduce("SUM", per, axis=None))
            return plain.read_value()

        assert float(step()) == 5.0
        assert float(step()) == 25.0
        assert plain.read_value().device == jax.devices()[0]

    def test_results_mix_with_any_array(self, strategy: MirroredStrategy) -> None:
        @replax.function
        def step() -> Any:
            per = strategy.run(lambda: jnp.ones(2))
            return strategy.reduce("SUM", per, axis=None)

        elsewhere = jax.device_put(jnp.ones(2), jax.devices()[6])
        np.testing.assert_array_equal(step() + elsewhere, [3, 3])


class TestWhatChangesInPlace:
    def test_few_numbers(self) -> None:
        rates = np.array([1.0, 2.0], np.float32)
        traces: list[int] = []

        @replax.function
        def scaled(x: Any) -> Any:
            traces.append(1)
            return x * float(rates[0])  # NumPy's: a part of the program

        assert [float(scaled(jnp.float32(3))) for _ in range(3)] == [3, 3, 3]
        rates[0] = 5
        assert [float(scaled(jnp.float32(3))) for _ in range(3)] == [15, 15, 15]
        assert len(traces) == 2

    def test_a_set(self) -> None:
        frozen = {"b"}
        traces: list[int] = []

        @replax.function
        def kept(tree: Any) -> Any:
            traces.append(1)
            return {k: v * (k not in frozen) for k, v in tree.items()}

        tree = {"a": jnp.float32(1), "b": jnp.float32(2)}
        assert {k: float(v) for k, v in kept(tree).items()} == {"a": 1, "b": 0}
        frozen.add("a")
        frozen.discard("b")
        assert {k: float(v) for k, v in kept(tree).items()} == {"a": 0, "b": 2}
        kept(tree)
        assert len(traces) == 2

    def test_what_a_function_changes_itself_is_a_log(self) -> None:
        seen: set[Any] = set()
        traces = np.zeros(1, np.int32)

        @replax.function
        def double(x: Any) -> Any:
            seen.add(x.shape)
            traces[0] += 1
            return x * 2

        for _ in range(3):
            double(jnp.ones(2))
        assert traces[0] == 1
        assert seen == {(2,)}


class Trainer:
    """An object that trains, with much in it that is none of its step's business."""

    scale = 1.0

    def __init__(self) -> None:
        self.traces = 0
        self.history: list[float] = []
        self.count = 0
        self.best = 0.0
        self.rate = 0.5
        self.notes = {"rate": 1.0}
        self.total = replax.Variable(0.0)
        self.later = lambda x: x * self.best
        self.train = replax.function(self.add)

    def add(self, x: Any) -> Any:
        self.traces += 1
        self.total.assign_add(self.scaled(x))
        return self.total.read_value()

    def scaled(self, x: Any) -> Any:
        return x * self.rate

    def whole(self, x: Any) -> Any:
        return x * vars(self)["rate"] + read_count(self)

    def by_function(self, x: Any) -> Any:
        return self.later(x)

    def based(self, x: Any) -> Any:
        return x * self.half

    @property
    def half(self) -> float:
        return self.rate / 2


class SlowTrainer(Trainer):
    def scaled(self, x: Any) -> Any:
        return super().scaled(x) + self.count


def read_count(trainer: Trainer) -> int:
    return trainer.count


class TestMethods:
    def test_what_they_do_not_read_may_change(self) -> None:
        trainer = Trainer()
        for k in range(5):
            trainer.history.append(float(trainer.train(jnp.float32(1))))
            trainer.count += 1
            trainer.best = 1 / (k + 1)
            trainer.notes[f"epoch {k}"] = 1.0
        assert trainer.history == [0.5, 1, 1.5, 2, 2.5]
        assert trainer.traces == 1

    def test_nor_do_functions_that_use_them(self) -> None:
        trainer = Trainer()

        @replax.function
        def twice(x: Any) -> Any:
            return trainer.add(x) + trainer.scaled(x)

        for _ in range(3):
            trainer.history.append(float(twice(jnp.float32(1))))
            trainer.count += 1
        trainer.rate = 10.0
        trainer.history.append(float(twice(jnp.float32(1))))
        assert trainer.history == [1, 1.5, 2, 21.5]
        assert trainer.traces == 2

    def test_what_they_read_may_not(self) -> None:
        trainer = Trainer()
        trainer.train(jnp.float32(1))
        trainer.rate = 10.0
        assert float(trainer.train(jnp.float32(1))) == 10.5
        vars(trainer)["scaled"] = lambda x: x * 100
        assert float(trainer.train(jnp.float32(1))) == 110.5

    @pytest.mark.parametrize(
        ("method", "attribute", "expected"),
        [
            ("whole", "count", [0.5, 2.5]),
            ("whole", "rate", [0.5, 2.0]),
            ("by_function", "best", [0.0, 2.0]),
            ("based", "rate", [0.25, 1.0]),
        ],
    )
    def test_what_they_read_in_other_ways(
        self, method: str, attribute: str, expected: list[float]
    ) -> None:
        trainer = Trainer()
        function = replax.function(getattr(trainer, method))
        found = [float(function(jnp.float32(1)))]
        setattr(trainer, attribute, 2.0)
        assert [*found, float(function(jnp.float32(1)))] == expected

    def test_what_a_base_class_reads(self) -> None:
        trainer = SlowTrainer()
        assert float(trainer.train(jnp.float32(1))) == 0.5
        trainer.rate = 1.0
        trainer.count = 2
        assert float(trainer.train(jnp.float32(1))) == 3.5
