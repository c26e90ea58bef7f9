"""Saving and restoring: every kind of variable, every structure, every strategy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest
from flax import nnx

import replax
from replax import VariableAggregation, VariableSynchronization
from replax.distribute import MirroredStrategy, OneDeviceStrategy
from replax.train import Checkpoint, latest_checkpoint

ON_READ = VariableSynchronization.ON_READ
SUM = VariableAggregation.SUM


def strategy_of(replicas: int) -> Any:
    if replicas == 1:
        return OneDeviceStrategy("CPU:0")
    return MirroredStrategy([f"CPU:{i}" for i in range(replicas)])


def parts(v: Any) -> list[np.ndarray]:
    """What each replica has of a variable."""
    return [np.asarray(part[0]) for part in v.store.parts()]


def variable(replicas: int, *args: Any, **kwargs: Any) -> Any:
    if replicas == 0:
        return replax.Variable(*args, **kwargs)
    with strategy_of(replicas).scope():
        return replax.Variable(*args, **kwargs)


@pytest.mark.parametrize("before", [0, 1, 2, 3])
@pytest.mark.parametrize("after", [0, 1, 4])
def test_a_variable_moves_between_strategies(
    before: int, after: int, tmp_path: Path
) -> None:
    path = Checkpoint(v=variable(before, [1.0, 2.0])).save(tmp_path / "ck")
    restored = variable(after, [0.0, 0.0])
    Checkpoint(v=restored).restore(path).assert_consumed()
    for part in parts(restored):
        np.testing.assert_array_equal(part, [1.0, 2.0])


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [("SUM", 1.5), ("MEAN", 6.0), ("ONLY_FIRST_REPLICA", 6.0)],
)
def test_what_each_replica_gets_of_an_on_read_variable(
    aggregation: str, expected: float, tmp_path: Path
) -> None:
    kind: dict[str, Any] = {
        "synchronization": ON_READ,
        "aggregation": VariableAggregation[aggregation],
    }
    saved = variable(2, 3.0, **kind)
    saved.assign(6.0)
    path = Checkpoint(v=saved).save(tmp_path / "ck")
    restored = variable(4, 0.0, **kind)
    Checkpoint(v=restored).restore(path)
    assert [float(x) for x in parts(restored)] == [expected] * 4
    assert float(restored.numpy()) == 6.0


def test_a_tree_of_arrays_and_a_key_of_random_numbers(tmp_path: Path) -> None:
    tree = {"w": jnp.ones((2, 3)), "b": (jnp.zeros(3), jnp.arange(2))}
    saved = {"tree": variable(2, tree), "key": variable(2, jax.random.key(5))}
    path = Checkpoint(**saved).save(tmp_path / "ck")
    new = variable(3, jax.tree.map(lambda x: x + 7, tree))
    key = variable(3, jax.random.key(0))
    Checkpoint(tree=new, key=key).restore(path).assert_consumed()
    assert jax.tree.all(
        jax.tree.map(lambda a, b: bool((a == b).all()), new.read_value(), tree)
    )
    np.testing.assert_array_equal(
        jax.random.bits(key.read_value()), jax.random.bits(jax.random.key(5))
    )


@pytest.mark.parametrize(
    "value",
    [
        np.zeros((0, 3), np.float32),
        np.array(3, ml_dtypes.bfloat16),
        np.array([True, False]),
        np.array(1 + 2j, np.complex64),
        np.arange(4, dtype=np.int8),
    ],
    ids=lambda value: f"{value.dtype}{value.shape}",
)
def test_arrays_of_every_kind(value: np.ndarray, tmp_path: Path) -> None:
    path = Checkpoint(v=replax.Variable(value), x=value).save(tmp_path / "ck")
    restored = Checkpoint(
        v=replax.Variable(np.zeros_like(value)), x=np.zeros_like(value)
    )
    restored.restore(path).assert_consumed()
    np.testing.assert_array_equal(restored.v.numpy(), value)
    np.testing.assert_array_equal(restored.x, value)
    assert restored.x.dtype == value.dtype


class Moments(NamedTuple):
    count: Any
    mean: Any


class Model:
    def __init__(self, scale: float) -> None:
        self.units = 3
        self.name = "model"
        self.kernel = replax.Variable([scale, scale])
        self.layers = [replax.Variable(scale), {"bias": replax.Variable(scale)}]
        self.parent = self
        self.activation = jnp.tanh


def test_objects_dicts_lists_trees_and_checkpoints_in_each_other(
    tmp_path: Path,
) -> None:
    def made(x: float) -> Checkpoint:
        return Checkpoint(
            model=Model(x),
            moments=Moments(int(x), jnp.full(2, x)),
            inner=Checkpoint(v=replax.Variable(x), note="a" * int(x)),
            table={"rate": x, "on": x == 1.0, "a.b/c": [x, np.float32(x)]},
        )

    path = made(1.0).save(tmp_path / "ck")
    restored = made(2.0)
    model, mean = restored.model, restored.moments.mean
    restored.restore(path).assert_consumed()
    assert restored.model is model
    np.testing.assert_array_equal(model.kernel.numpy(), [1.0, 1.0])
    assert model.layers[0].numpy() == model.layers[1]["bias"].numpy() == 1.0
    assert restored.moments.count == 1
    np.testing.assert_array_equal(restored.moments.mean, [1.0, 1.0])
    np.testing.assert_array_equal(mean, [2.0, 2.0])
    assert (restored.inner.v.numpy(), restored.inner.note) == (1.0, "a")
    assert restored.table == {"rate": 1.0, "on": True, "a.b/c": [1.0, 1.0]}
    assert model.units == 3


def test_plain_pytrees_are_made_anew(tmp_path: Path) -> None:
    optimizer = optax.adam(1e-3)
    state = optimizer.init({"w": jnp.ones(3)})
    values = {"key": jax.random.key(3), "none": None, "empty": (), "t": (1, 2.5, "x")}
    path = Checkpoint(state=state, **values).save(tmp_path / "ck")
    other = jax.tree.map(lambda x: x + 5, state)
    new = {"key": jax.random.key(0), "none": None, "empty": (), "t": (0, 0.0, "")}
    restored = Checkpoint(state=other, **new)
    restored.restore(path).assert_consumed()
    assert jax.tree.structure(restored.state) == jax.tree.structure(state)
    assert jax.tree.all(jax.tree.map(np.array_equal, restored.state, state))
    assert (restored.t, restored.none, restored.empty) == ((1, 2.5, "x"), None, ())
    assert jax.random.bits(restored.key) == jax.random.bits(values["key"])


def test_a_module_of_flax_is_restored_in_place(tmp_path: Path) -> None:
    def made(seed: int) -> nnx.Module:
        rngs = nnx.Rngs(seed)
        norm, drop = nnx.BatchNorm(3, rngs=rngs), nnx.Dropout(0.5, rngs=rngs)
        return nnx.Sequential(nnx.Linear(2, 3, rngs=rngs), norm, drop)

    model, other = made(0), made(1)
    path = Checkpoint(model=model).save(tmp_path / "ck")
    Checkpoint(model=other).restore(path).assert_consumed()
    x = jnp.ones((4, 2))
    np.testing.assert_array_equal(other(x), model(x))


def test_of_an_object_only_what_leads_to_variables_is_saved(tmp_path: Path) -> None:
    model = Model(1.0)
    path = Checkpoint(model=model).save(tmp_path / "ck")
    model.units = 99
    Checkpoint(model=model).restore(path).assert_consumed()
    assert model.units == 99


def test_a_list_that_is_too_short_gets_the_rest_and_a_dict_its_names(
    tmp_path: Path,
) -> None:
    path = Checkpoint(losses=[3.0, 2.0, 1.0], best={"step": 7}).save(tmp_path / "ck")
    losses: list[float] = [0.0]
    restored = Checkpoint(losses=losses, best={})
    restored.restore(path).assert_consumed()
    assert losses == [3.0, 2.0, 1.0]
    assert restored.best == {"step": 7}


def test_a_variable_under_two_names_is_saved_once(tmp_path: Path) -> None:
    shared = replax.Variable(np.ones(1000, np.float32))
    path = Checkpoint(a=shared, b=shared).save(tmp_path / "ck")
    new = {"a": replax.Variable(jnp.zeros(1000)), "b": replax.Variable(jnp.zeros(1000))}
    Checkpoint(**new).restore(path).assert_consumed()
    assert new["a"].numpy().sum() == new["b"].numpy().sum() == 1000


def test_a_root_lends_its_names(tmp_path: Path) -> None:
    path = Checkpoint(Model(1.0)).save(tmp_path / "ck")
    model = Model(2.0)
    Checkpoint(model).restore(path).assert_consumed()
    np.testing.assert_array_equal(model.kernel.numpy(), [1.0, 1.0])
    numbers = {"n": 1}
    path = Checkpoint(numbers).save(tmp_path / "n")
    numbers["n"] = 5
    Checkpoint(numbers).restore(path)
    assert numbers == {"n": 1}


def test_in_any_scope_and_after_training(tmp_path: Path) -> None:
    two, four = strategy_of(2), strategy_of(4)
    with two.scope():
        v = replax.Variable(1.0, aggregation=SUM)
    two.run(lambda: v.assign_add(jnp.ones(())))
    with four.scope():
        path = Checkpoint(v=v).save(tmp_path / "ck")
        v_of_four = replax.Variable(0.0)
        Checkpoint(v=v_of_four).restore(path)
    with two.scope():
        Checkpoint(v=v_of_four).restore(path)
        v.overwrite(np.float32(0))
    assert [float(x) for x in parts(v_of_four)] == [3.0] * 4
    step = replax.function(lambda: two.run(lambda: v.assign_add(jnp.ones(()))))
    step()
    Checkpoint(v=v).restore(path)
    step()
    assert [float(x) for x in parts(v)] == [5.0, 5.0]


# --- restoring before there is anything ---------------------------------------


def test_attributes_set_later_get_their_values(tmp_path: Path) -> None:
    saved = Checkpoint(
        v=variable(2, 7.0), n=3, net=Checkpoint(w=variable(0, [1.0, 2.0]))
    )
    path = saved.save(tmp_path / "ck")
    late = Checkpoint()
    status = late.restore(path)
    with pytest.raises(
        AssertionError, match="values that nothing in the program takes"
    ):
        status.assert_consumed()
    late.v = variable(4, 0.0)
    late.n = 0
    late.net = Checkpoint()
    late.net.w = variable(3, [0.0, 0.0])
    assert [float(x) for x in parts(late.v)] == [7.0] * 4
    assert late.n == 3
    assert [list(map(float, x)) for x in parts(late.net.w)] == [[1.0, 2.0]] * 3
    status.assert_consumed()
    late.n = 11
    status.assert_consumed()
    assert late.n == 11


def test_what_appears_in_objects_gets_its_value_when_the_status_looks(
    tmp_path: Path,
) -> None:
    path = Checkpoint(model=Model(1.0)).save(tmp_path / "ck")

    class Lazy:
        pass

    late: Any = Lazy()
    status = Checkpoint(model=late).restore(path)
    late.kernel = variable(2, [0.0, 0.0])
    late.layers = [replax.Variable(0.0)]
    with pytest.raises(AssertionError, match=r"model\.layers\.1\.bias"):
        status.assert_consumed()
    assert [float(x[0]) for x in parts(late.kernel)] == [1.0, 1.0]
    late.kernel.assign([5.0, 5.0])
    late.layers.append({"bias": replax.Variable(0.0)})
    status.assert_consumed()
    assert late.layers[1]["bias"].numpy() == 1.0
    np.testing.assert_array_equal(late.kernel.numpy(), [5.0, 5.0])


def test_a_subclass_needs_no_constructor_of_ours(tmp_path: Path) -> None:
    class Net(Checkpoint):
        def __init__(self, value: float) -> None:
            self.w = replax.Variable(value)

        def build(self, value: float) -> None:
            self.late = replax.Variable(value)

    saved = Net(1.0)
    saved.build(2.0)
    path = saved.save(tmp_path / "ck")
    net = Net(0.0)
    status = net.restore(path)
    net.build(0.0)
    status.assert_consumed()
    assert (net.w.numpy(), net.late.numpy()) == (1.0, 2.0)


# --- statuses, counting, the latest -------------------------------------------


def test_statuses(tmp_path: Path) -> None:
    path = Checkpoint(a=replax.Variable(1.0), b=2).save(tmp_path / "ck")
    part = Checkpoint(a=replax.Variable(0.0)).restore(path)
    part.assert_existing_objects_matched().assert_nontrivial_match().expect_partial()
    more = Checkpoint(a=replax.Variable(0.0), b=0, c=[replax.Variable(0.0)])
    status = more.restore(path)
    with pytest.raises(AssertionError, match=r"no values for c\.0; .*expect_partial"):
        status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match=r"nothing in the program .*Checkpoint"):
        Checkpoint(z=1).restore(path).assert_nontrivial_match()
    with pytest.raises(AssertionError, match="None for a path"):
        Checkpoint().restore(None).assert_consumed()


def test_saves_are_counted_and_restored_counts_go_on(tmp_path: Path) -> None:
    first = Checkpoint(n=1)
    assert first.save(tmp_path / "a" / "ck") == str(tmp_path / "a" / "ck-1")
    second = first.save(str(tmp_path / "a" / "ck"))
    assert second == str(tmp_path / "a" / "ck-2")
    assert int(first.save_counter.numpy()) == 2
    other = Checkpoint(n=0)
    other.restore(second)
    with strategy_of(2).scope():
        assert other.save(tmp_path / "a" / "ck").endswith("ck-3")
    assert latest_checkpoint(tmp_path / "a") == str(tmp_path / "a" / "ck-3")
    first.n = 9
    path = first.write(tmp_path / "a" / "exact")
    assert path == str(tmp_path / "a" / "exact") == latest_checkpoint(tmp_path / "a")
    first.n = 10
    first.write(tmp_path / "a" / "exact")
    other.read(path).assert_consumed()
    assert other.n == 10
    assert int(other.save_counter.numpy()) == 3
    assert sorted(x.name for x in (tmp_path / "a").iterdir()) == [
        "ck-1",
        "ck-2",
        "ck-3",
        "exact",
    ]
    assert latest_checkpoint(tmp_path / "none") is None


def test_the_latest_in_a_relative_folder_has_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoint = Checkpoint(n=1)
    for folder in ("run", "."):
        path = checkpoint.save(f"{folder}/ck")
        assert latest_checkpoint(folder) == path
        assert checkpoint.restore(path).assert_consumed()
