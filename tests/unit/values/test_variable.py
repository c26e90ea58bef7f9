"""A variable between steps: made, read, assigned, copied, and used as an array."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import replax
from replax import VariableAggregation, VariableSnapshot, VariableSynchronization
from replax.distribute import (
    DistributedValues,
    Mirrored,
    MirroredStrategy,
    OneDeviceStrategy,
    PerReplica,
)
from running import parts


@pytest.fixture(scope="module")
def mirrored() -> MirroredStrategy:
    return MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])


Maker = Callable[..., Any]


@pytest.fixture(params=["plain", "mirrored", "on read"])
def make(request: pytest.FixtureRequest, mirrored: MirroredStrategy) -> Maker:
    def made(*args: Any, **kwargs: Any) -> Any:
        if request.param == "plain":
            return replax.Variable(*args, **kwargs)
        if request.param == "on read":
            kwargs["synchronization"] = VariableSynchronization.ON_READ
            kwargs["aggregation"] = VariableAggregation.ONLY_FIRST_REPLICA
        with mirrored.scope():
            return replax.Variable(*args, **kwargs)

    return made


class TestInitialValues:
    @pytest.mark.parametrize(
        ("value", "dtype", "wanted"),
        [
            (1, None, "int32"),
            (1.0, None, "float32"),
            (True, None, "bool"),
            (1j, None, "complex64"),
            ([1, 2], None, "int32"),
            ([[1.0], [2.0]], None, "float32"),
            (np.float64(2), None, "float32"),
            (np.int8(1), None, "int8"),
            (jnp.ones(2, jnp.bfloat16), None, "bfloat16"),
            (1, jnp.float32, "float32"),
            (1, "bfloat16", "bfloat16"),
            (2**40, "float32", "float32"),
            ([1, 2], np.float16, "float16"),
            (np.arange(2), "float32", "float32"),
            (lambda: jnp.ones(2), None, "float32"),
            (lambda: [1, 2], "float32", "float32"),
        ],
    )
    def test_dtypes(self, make: Maker, value: Any, dtype: Any, wanted: str) -> None:
        v = make(value, dtype=dtype)
        assert v.dtype == wanted
        assert v.read_value().dtype == wanted
        assert not v.read_value().weak_type

    def test_weak_types_are_made_strong(self, make: Maker) -> None:
        v = make(jnp.asarray(1.0))
        assert jnp.asarray(1.0).weak_type
        assert not v.read_value().weak_type
        v.assign(jnp.asarray(2.0))
        assert not v.read_value().weak_type

    def test_shape_and_more(self, make: Maker) -> None:
        v = make([[1.0, 2.0, 3.0]], name="w")
        assert (v.shape, v.ndim, v.size, v.name, len(v)) == ((1, 3), 2, 3, "w", 1)

    def test_a_host_array_may_change_afterwards(self, make: Maker) -> None:
        for size in (3, 1024):
            mine = np.ones(size, np.float32)
            v = make(mine)
            tree = make({"x": mine})
            mine[:] = 7
            assert float(v.numpy().sum()) == float(tree.numpy()["x"].sum()) == size
            v.assign(mine)
            tree.assign({"x": mine})
            mine[:] = 9
            assert float(v.numpy()[0]) == float(tree.numpy()["x"][0]) == 7

    def test_a_given_array_is_not_taken_away(self, make: Maker) -> None:
        mine = jnp.ones(1000)
        v = make(mine)
        add = replax.function(lambda: v.assign_add(jnp.ones(1000)))
        add()
        assert float(mine.sum()) == 1000
        v.assign(mine)
        add()
        assert float(mine.sum()) == 1000

    def test_a_tree(self, make: Maker) -> None:
        v = make({"w": [[1.0, 2.0]], "b": (jnp.ones(2), 3), "none": None})
        found = v.read_value()
        assert found["w"].shape == (1, 2)
        assert found["b"][1].dtype == np.int32
        assert found["none"] is None
        for what in ("shape", "dtype", "ndim", "size"):
            with pytest.raises(
                AttributeError, match=f"a tree of 3 arrays and has no {what}"
            ):
                getattr(v, what)
        with pytest.raises(TypeError, match="a tree of 3 arrays and cannot be used as"):
            abs(v)

    def test_another_variable_gives_its_value(self, make: Maker) -> None:
        v = make(make([1.0, 2.0]))
        assert v.shape == (2,)
        assert make(Mirrored([jnp.ones(2)] * 3)).shape == (2,)

    @pytest.mark.parametrize("value", [[], {}, None, (), lambda: None])
    def test_nothing_is_refused(self, make: Maker, value: Any) -> None:
        with pytest.raises(
            ValueError, match=r"'empty' was given .*holds no array; give"
        ):
            make(value, name="empty")

    def test_the_state_of_an_optimizer_may_hold_nothing(self, make: Maker) -> None:
        for optimizer in (optax.sgd(0.1), optax.scale(-1.0)):
            state = optimizer.init({"w": jnp.ones(3)})
            v = make(state)
            v.assign(v.value())
            assert v.value() == state

    @pytest.mark.parametrize(
        "value", ["text", np.array(["a"]), {"x": "text"}, object()]
    )
    def test_what_is_no_number_is_refused(self, make: Maker, value: Any) -> None:
        with pytest.raises(
            TypeError, match=r"initial value of variable 'v' is .*device"
        ):
            make(value, name="v")

    def test_a_per_replica_value_is_refused(self, make: Maker) -> None:
        with pytest.raises(TypeError, match="'v' is a PerReplica; reduce it, or"):
            make(PerReplica([1, 2]), name="v")

    @pytest.mark.parametrize("value", [2**40, [2**40], np.array([1, 2**40])])
    def test_what_does_not_fit_is_named(self, make: Maker, value: Any) -> None:
        with pytest.raises(OverflowError, match=f"variable 'v' holds {2**40}, which"):
            make(value, name="v")
        with pytest.raises(
            OverflowError, match="'v' is 300, which does not fit in int8"
        ):
            make(300, dtype="int8", name="v")
        with jax.enable_x64(True):
            assert int(np.max(make(value).numpy())) == 2**40


class TestChoices:
    def test_synchronization_none_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"synchronization is NONE, .*use AUTO"):
            replax.Variable(1.0, synchronization=VariableSynchronization.NONE)

    def test_a_mean_of_integers_is_refused(self) -> None:
        with pytest.raises(
            ValueError, match=r"MEAN and the dtype is int32.*use a float"
        ):
            replax.Variable(1, aggregation=VariableAggregation.MEAN)
        with pytest.raises(ValueError, match="MEAN and the dtype is bool"):
            replax.Variable({"a": 1.0, "b": True}, aggregation=VariableAggregation.MEAN)

    def test_what_is_local_is_not_trained(self) -> None:
        with pytest.raises(
            ValueError, match="trainable=True with synchronization=ON_R"
        ):
            replax.Variable(
                1.0, trainable=True, synchronization=VariableSynchronization.ON_READ
            )

    def test_defaults(self, mirrored: MirroredStrategy) -> None:
        v = replax.Variable(1.0)
        assert v.trainable
        assert v.name == "Variable"
        assert v.aggregation is VariableAggregation.NONE
        assert v.synchronization is VariableSynchronization.AUTO
        with mirrored.scope():
            copies = replax.Variable(1.0)
        assert copies.synchronization is VariableSynchronization.ON_WRITE
        assert not replax.Variable(1.0, trainable=False).trainable
        with mirrored.scope():
            local = replax.Variable(
                1.0, synchronization=VariableSynchronization.ON_READ
            )
        assert not local.trainable

    def test_the_kind_follows_the_scope(self, mirrored: MirroredStrategy) -> None:
        with mirrored.scope():
            v = replax.Variable(1.0)
        assert isinstance(v, replax.Variable)
        assert isinstance(v, DistributedValues)
        assert len({x.device for x in v.values}) == 3
        plain = replax.Variable(1.0)
        assert isinstance(plain, replax.Variable)
        assert not isinstance(plain, DistributedValues)
        with OneDeviceStrategy("CPU:4").scope():
            one = replax.Variable(1.0)
        assert one.device == jax.devices()[4]


class TestAssign:
    def test_the_variable_is_returned(self, make: Maker) -> None:
        v = make([1.0, 2.0])
        assert v.assign([3, 4]) is v
        assert v.numpy().tolist() == [3, 4]
        assert v.assign_add([1.0, 1.0]).numpy().tolist() == [4, 5]
        assert v.assign_sub(jnp.ones(2)).numpy().tolist() == [3, 4]
        assert v.assign_add(1).numpy().tolist() == [4, 5]

    def test_trees(self, make: Maker) -> None:
        v = make({"w": [[1.0, 2.0]], "b": (3, 1.5)})
        v.assign_add({"w": jnp.ones((1, 2)), "b": (1, 0.5)})
        v.assign_sub({"w": [[1, 1]], "b": (np.int32(2), 1)})
        assert jax.tree.map(lambda x: x.tolist(), v.numpy()) == {
            "w": [[1, 2]],
            "b": (2, 1),
        }
        v.assign(jax.tree.map(lambda x: x * 2, v.read_value()))
        assert v.numpy()["b"][0] == 4

    @pytest.mark.parametrize(
        "value",
        [
            {"w": 1.0},
            {"w": 1.0, "b": 2.0, "c": 3.0},
            [1.0, 2.0],
            1.0,
            {"w": 1.0, "x": 1.0},
        ],
    )
    def test_another_structure(self, make: Maker, value: Any) -> None:
        v = make({"w": 1.0, "b": 2.0}, name="tree")
        with pytest.raises(
            ValueError, match=r"'tree' was given the structure .* but its"
        ):
            v.assign(value)

    def test_another_shape(self, make: Maker) -> None:
        v = make([1.0, 2.0], name="v")
        with pytest.raises(
            ValueError, match=r"'v' has shape \(3,\).*\(2,\); a variable k"
        ):
            v.assign([1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match=r"has shape \(\), but"):
            v.assign(1.0)
        with pytest.raises(ValueError, match=r"has shape \(1,\), but"):
            v.assign_add([1.0])

    @pytest.mark.parametrize("value", [1.5, [1.5], 1j])
    def test_numbers_of_another_kind(self, make: Maker, value: Any) -> None:
        v = make([1] if isinstance(value, list) else 1, name="v")
        with pytest.raises(TypeError, match=r"'v' is .*int32, which .*round it"):
            v.assign(value)

    @pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "float32"])
    def test_arrays_of_numpy_are_converted(self, make: Maker, dtype: str) -> None:
        v = make(0, dtype=dtype)
        for value in (np.int64(3), np.array(3, np.uint8), np.array(True)):
            assert v.assign(value).numpy() == value
            assert v.numpy().dtype == dtype

    @pytest.mark.parametrize("value", [np.float32(2), jnp.float32(2)])
    def test_another_dtype(self, make: Maker, value: Any) -> None:
        v = make(1, name="v")
        with pytest.raises(
            ValueError, match=r"'v' has dtype .*convert it with .astype"
        ):
            v.assign(value)

    @pytest.mark.parametrize("value", [1, True, np.array(1.0), 2**40, jnp.asarray(3)])
    def test_what_a_float_takes(self, make: Maker, value: Any) -> None:
        v = make(0.0)
        if isinstance(value, jax.Array):
            value = value + 0 if not value.weak_type else value
        v.assign(float(value) if isinstance(value, np.ndarray) else value)
        assert v.numpy() == np.float32(value)

    def test_numbers_that_do_not_fit(self, make: Maker) -> None:
        v = make(0, name="v")
        with pytest.raises(OverflowError, match=f"assign of variable 'v' is {2**40}"):
            v.assign(2**40)
        with pytest.raises(
            OverflowError, match=f"'v' holds {2**40}, which does not fit"
        ):
            v.assign(np.array(2**40))
        small = make(0, dtype="int8")
        with pytest.raises(OverflowError, match="does not fit in int8"):
            small.assign_add(300)

    def test_lists_of_arrays_are_stacked(self, make: Maker) -> None:
        v = make([1.0, 2.0])
        assert v.assign([jnp.float32(3), 4.0]).numpy().tolist() == [3, 4]
        set_both = replax.function(lambda a, b: v.assign([a, b]).read_value())
        assert set_both(5.0, 6.0).tolist() == [5, 6]
        assert v.numpy().tolist() == [5, 6]

    def test_values_that_stand_for_arrays(self, make: Maker) -> None:
        v, other = make([1.0, 2.0]), make([3.0, 4.0])
        assert v.assign(other).numpy().tolist() == [3, 4]
        assert v.assign_add(Mirrored([jnp.ones(2)] * 3)).numpy().tolist() == [4, 5]
        tree = make({"x": [1.0, 2.0]})
        assert tree.assign({"x": v}).numpy()["x"].tolist() == [4, 5]
        assert tree.assign(make({"x": [8.0, 9.0]})).numpy()["x"].tolist() == [8, 9]

    def test_a_per_replica_value_is_refused(self, make: Maker) -> None:
        with pytest.raises(TypeError, match="'v' was given a PerReplica; reduce it to"):
            make(1.0, name="v").assign(PerReplica([1.0, 2.0, 3.0]))

    def test_arrays_of_any_device_are_taken(self, make: Maker) -> None:
        v = make([1.0, 2.0])
        v.assign(jax.device_put(jnp.array([3.0, 4.0]), jax.devices()[7]))
        v.assign_add(jax.device_put(jnp.ones(2), jax.devices()[6]))
        assert v.numpy().tolist() == [4, 5]
        twice = replax.function(lambda: v.assign(v * 2))
        twice()
        assert v.numpy().tolist() == [8, 10]


class TestReading:
    def test_a_value_that_was_read_stays(self, make: Maker) -> None:
        v = make(jnp.ones(1000))
        add = replax.function(lambda: v.assign_add(jnp.ones(1000)))
        add()
        seen = [v.read_value(), v.value(), jnp.asarray(v), v.numpy(), np.asarray(v)]
        seen += [v[:], jax.tree.leaves(v)[0], next(iter(make(jnp.ones((1, 1000)) * 2)))]
        seen += getattr(v, "values", ())
        for _ in range(2):
            add()
        for value in seen:
            assert float(np.asarray(value).sum()) == 2000
        assert float(v.numpy().sum()) == 4000

    def test_what_numpy_gives_may_be_written_to(self, make: Maker) -> None:
        v = make([1.0, 2.0])
        for taken in (v.numpy(), np.array(v), np.asarray(v)):
            taken[0] = 9
            assert v.numpy().tolist() == [1, 2]
        assert np.asarray(v, np.int32).dtype == np.int32

    def test_what_is_read_is_usable_with_arrays_of_any_device(
        self, mirrored: MirroredStrategy
    ) -> None:
        with mirrored.scope():
            v: Any = replax.Variable(jnp.ones(2))
        far = jax.device_put(jnp.ones(2), jax.devices()[7])
        assert (v + far).device == (v.read_value() + far).device == jax.devices()[7]


BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]


class TestAsArray:
    @pytest.mark.parametrize("function", BINARY)
    def test_operators(self, function: Any) -> None:
        v, x = replax.Variable([1.0, 2.0, 3.0]), jnp.array([3.0, 2.0, 1.0])
        value = v.read_value()
        for other in (x, np.asarray(x), 2.0, 2, replax.Variable(x).read_value()):
            np.testing.assert_array_equal(function(v, other), function(value, other))
            np.testing.assert_array_equal(function(other, v), function(other, value))

    @pytest.mark.parametrize("function", BINARY[:-2])
    def test_operators_of_two_variables(self, function: Any) -> None:
        v, w = replax.Variable([1.0, 2.0]), replax.Variable([2.0, 2.0])
        np.testing.assert_array_equal(
            function(v, w), function(v.read_value(), w.read_value())
        )

    def test_more_operators(self) -> None:
        v, n = replax.Variable([[1.0, -2.0]]), replax.Variable([6, 3])
        np.testing.assert_array_equal(v @ jnp.ones((2, 1)), [[-1]])
        np.testing.assert_array_equal(np.ones((1, 1)) @ v, [[1, -2]])
        assert [(-v).tolist(), (+v).tolist(), abs(v).tolist()] == [
            [[-1, 2]],
            [[1, -2]],
            [[1, 2]],
        ]
        assert [(n & 2).tolist(), (n | 1).tolist(), (n ^ 1).tolist()] == [
            [2, 2],
            [7, 3],
            [7, 2],
        ]
        assert [(n << 1).tolist(), (n >> 1).tolist(), (~n).tolist()] == [
            [12, 6],
            [3, 1],
            [-7, -4],
        ]
        assert v[0, 1] == -2
        assert [x.tolist() for x in n] == [6, 3]

    def test_numbers(self) -> None:
        v, n = replax.Variable(2.5), replax.Variable(3)
        assert (int(v), float(v), complex(v), bool(v)) == (2, 2.5, 2.5, True)
        assert list(range(5))[n] == 3
        assert f"{v:.2f}" == "2.50"
        with pytest.raises(TypeError):
            len(v)
        with pytest.raises((TypeError, ValueError)):
            bool(replax.Variable([1, 2]))

    def test_variables_are_equal_to_themselves_only(self) -> None:
        v, w = replax.Variable(1.0), replax.Variable(1.0)
        assert v == v  # noqa: PLR0124
        assert v != w
        assert len({v: 1, w: 2}) == 2
        assert v in [w, v]
        assert v != "text"
        assert not v == None  # noqa: E711, SIM201

    def test_functions_of_jax(self, make: Maker) -> None:
        v = make([1.0, 2.0, 3.0])
        x = jnp.array([1.0, 0.0, 1.0])
        assert jnp.dot(v, x) == 4
        assert jnp.sum(v) == 6
        assert jnp.where(x > 0, v, 0.0).tolist() == [1, 0, 3]
        assert jnp.stack([v, v]).shape == (2, 3)
        assert jnp.concatenate([v, x]).shape == (6,)
        assert jnp.einsum("i,i", v, x) == 4
        assert jax.nn.relu(v).tolist() == [1, 2, 3]
        assert jax.vmap(lambda a: a * 2)(v).tolist() == [2, 4, 6]
        assert jax.jit(lambda a: a + 1)(v).tolist() == [2, 3, 4]
        assert jax.lax.stop_gradient(v.read_value()).tolist() == [1, 2, 3]
        assert jnp.isfinite(v).all()

    def test_functions_of_numpy(self, make: Maker) -> None:
        v = make([1.0, 2.0])
        assert np.sum(v) == 3
        assert np.mean(v) == 1.5
        np.testing.assert_array_equal(np.stack([v, v]), [[1, 2], [1, 2]])


class TestAsPytree:
    def test_gradients(self, make: Maker) -> None:
        v = make([1.0, 2.0], name="v")
        slope = jax.grad(lambda a: (a * a).sum())(v)
        assert isinstance(slope, VariableSnapshot)
        assert slope.numpy().tolist() == [2, 4]
        assert (slope.name, slope.shape, slope.ndim, slope.size) == ("v", (2,), 1, 2)
        v.assign_sub(0.5 * slope)
        assert v.numpy().tolist() == [0, 0]
        value, slopes = jax.value_and_grad(lambda nest: (nest["v"] * nest["x"]).sum())(
            {"v": v, "x": jnp.ones(2)}
        )
        assert float(value) == 0
        assert slopes["x"].tolist() == [0, 0]

    def test_map_gives_values(self, make: Maker) -> None:
        v, tree = make([1.0, 2.0]), make({"a": 1.0, "b": [2.0]})
        doubled = jax.tree.map(lambda x: 2 * x, [v, tree])
        assert doubled[0].read_value().tolist() == [2, 4]
        assert doubled[1].read_value()["b"].tolist() == [4]
        assert len(jax.tree.leaves([v, tree])) == 3
        assert jax.tree.map(lambda a, b: a + b, v, v).read_value().tolist() == [2, 4]

    @pytest.mark.parametrize("verb", ["assign", "assign_add", "assign_sub"])
    def test_a_snapshot_is_read_only(self, make: Maker, verb: str) -> None:
        v = make(1.0, name="v")
        with pytest.raises(
            TypeError, match=f"{verb} of a copy of variable 'v'.*return"
        ):
            jax.grad(lambda a: getattr(a, verb)(2.0))(v)
        assert float(v) == 1

    def test_a_snapshot_has_what_it_has(self, make: Maker) -> None:
        snapshot = jax.tree.map(lambda x: x, make(1.0, name="v"))
        assert "VariableSnapshot('v'" in repr(snapshot)
        assert not hasattr(snapshot, "nothing_of_this_name")
        assert float(snapshot + 1) == 2
        assert float(snapshot.value()) == 1
        assert jax.tree.leaves(snapshot) == [snapshot.read_value()]
        assert copy.copy(snapshot).name == "v"


class TestCopies:
    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
    def test_a_copy_is_a_variable_of_its_own(self, make: Maker, copied: Any) -> None:
        v = make(jnp.ones(1000), name="v", trainable=False)
        w = copied(v)
        assert type(w) is type(v)
        assert (w.name, w.trainable, w.device) == (v.name, v.trainable, v.device)
        for variable, other in ((v, w), (w, v)):
            kept = float(other.numpy().sum())
            step = replax.function(lambda a=variable: a.assign_add(jnp.ones(1000)))
            step()
            step()
            assert float(other.numpy().sum()) == kept
        assert float(v.numpy().sum()) == float(w.numpy().sum()) == 3000

    def test_a_nest_with_variables_is_copied(self, make: Maker) -> None:
        model = {"w": make(1.0), "layers": [make([2.0])]}
        again = copy.deepcopy(model)
        again["w"].assign(5.0)
        assert float(model["w"]) == 1

    def test_a_copy_in_a_function_is_refused(self, make: Maker) -> None:
        v = make(1.0, name="v")
        with pytest.raises(
            RuntimeError, match="'v' is copied inside of a step or a fun"
        ):
            replax.function(lambda: copy.copy(v))()

    def test_pickling_says_what_to_do(self, make: Maker) -> None:
        v = make(1.0, name="v")
        with pytest.raises(
            TypeError, match=r"'v' belongs to .*pickle variable.numpy\(\)"
        ):
            pickle.dumps({"v": v})
        assert pickle.loads(pickle.dumps(v.numpy())) == 1


class TestText:
    def test_a_plain_variable(self) -> None:
        assert repr(replax.Variable([1.0, 2.0], name="w")) == (
            "<Variable 'w' shape=(2,) dtype=float32 "
            "value=array([1., 2.], dtype=float32)>"
        )

    def test_a_mirrored_variable(self, mirrored: MirroredStrategy) -> None:
        with mirrored.scope():
            v = replax.Variable(1.0, name="v")
        line = "<Variable 'v' shape=() dtype=float32 value=array(1., dtype=float32)>"
        assert repr(v) == (
            f"MirroredVariable:{{\n  0: {line},\n  1: {line},\n  2: {line}\n}}"
        )
        assert f"{v}" == str(v) == repr(v)
        assert "MirroredVariable" in v._repr_html_()

    def test_a_local_variable(self, mirrored: MirroredStrategy) -> None:
        with mirrored.scope():
            v = replax.Variable(1, synchronization=VariableSynchronization.ON_READ)
        assert repr(v).startswith("SyncOnReadVariable:{\n  0: <Variable 'Variable' ")
        assert parts(mirrored, v) == [1, 1, 1]

    def test_a_tree(self) -> None:
        v = replax.Variable({"a": [1.0], "b": 2})
        assert repr(v) == (
            "<Variable 'Variable' {'a': 'float32[1]', 'b': 'int32[]'} "
            "value={'a': array([1.], dtype=float32), 'b': array(2, dtype=int32)}>"
        )

    def test_while_a_function_is_traced(self, make: Maker) -> None:
        v = make(1.0, name="v")
        seen: list[str] = []
        replax.function(lambda: seen.append(repr(v)))()
        assert "'v' shape=() dtype=float32>" in seen[0]


class TestKeysOfRandomNumbers:
    def test_a_key_is_kept_and_assigned(self, make: Maker) -> None:
        v = make(jax.random.key(0), name="key")
        assert jnp.issubdtype(v.dtype, jax.dtypes.prng_key)
        first, rest = jax.random.split(v.read_value())
        v.assign(rest)
        assert jax.random.key_data(v.read_value()).tolist() == (
            jax.random.key_data(rest).tolist()
        )
        assert jax.random.uniform(first).shape == ()
        assert "key" in repr(v)
        assert v.numpy().tolist() == jax.random.key_data(rest).tolist()

    @pytest.mark.parametrize("aggregation", ["MEAN", "SUM"])
    def test_keys_are_not_added(self, aggregation: str) -> None:
        message = (
            f"aggregation is {aggregation} and the dtype is key<fry> in one of its 2 "
            "arrays.*of their own, with aggregation=ONLY_FIRST_REPLICA"
        )
        with pytest.raises(ValueError, match=message):
            replax.Variable(
                {"key": jax.random.key(0), "mean": jnp.zeros(3)},
                aggregation=replax.VariableAggregation[aggregation],
            )


class TestUnderTransformations:
    def test_reading_in_jit_says_what_to_do(self, make: Maker) -> None:
        v = make(1.0, name="v")
        with pytest.raises(
            RuntimeError, match=r"'v' is used \(read\).*replax.function"
        ):
            jax.jit(lambda: v + 1)()
        with pytest.raises(RuntimeError, match=r"'v' is used \(assign\)"):
            jax.jit(v.assign)(1.0)

    def test_reading_in_a_gradient_is_fine(self, make: Maker) -> None:
        v = make(3.0)
        assert float(jax.grad(lambda x: v * x)(1.0)) == 3
        assert jax.vmap(lambda x: v * x)(jnp.arange(2.0)).tolist() == [0, 3]

    def test_what_is_assigned_in_a_gradient_has_none(self, make: Maker) -> None:
        v = make(0.0)

        def loss(x: Any) -> Any:
            v.assign(2 * x)
            v.assign_add(x)
            return x * x

        assert float(jax.grad(loss)(3.0)) == 6
        assert float(v) == 9

    def test_assigning_in_vmap_is_refused(self, make: Maker) -> None:
        v = make(0.0, name="v")
        with pytest.raises(
            RuntimeError, match=r"assign of variable 'v' inside of jax.vm"
        ):
            jax.vmap(v.assign)(jnp.arange(2.0))
        assert float(v) == 0
