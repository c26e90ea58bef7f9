"""Values with a component for each replica, and how they look."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax.distribute import DistributedValues, Mirrored, MirroredStrategy, PerReplica


@pytest.fixture(scope="module")
def strategy() -> MirroredStrategy:
    return MirroredStrategy(["CPU:0", "CPU:1"])


def stacked(strategy: MirroredStrategy, *rows: Any) -> Any:
    """A value as a program gives it: one array over the mesh."""
    value = strategy.experimental_distribute_values_from_function(
        lambda c: rows[c.replica_id_in_sync_group]
    )
    return replax.function(lambda v: strategy.run(lambda x: x + 0, (v,)))(value)


class TestText:
    def test_python_values(self) -> None:
        assert repr(PerReplica((1, "b"))) == "PerReplica:{\n  0: 1,\n  1: 'b'\n}"
        assert repr(Mirrored([1.5])) == "Mirrored:{\n  0: 1.5\n}"

    def test_arrays_are_indented(self, strategy: MirroredStrategy) -> None:
        value = stacked(strategy, jnp.eye(2), jnp.ones((2, 2)))
        assert str(value) == (
            "PerReplica:{\n"
            "  0: Array([[1., 0.],\n         [0., 1.]], dtype=float32),\n"
            "  1: Array([[1., 1.],\n         [1., 1.]], dtype=float32)\n"
            "}"
        )

    def test_in_a_notebook(self, strategy: MirroredStrategy) -> None:
        text = stacked(strategy, jnp.ones(2), jnp.zeros(2))._repr_html_()
        assert "<caption>PerReplica</caption>" in text
        assert text.count("<tr>") == 3
        assert "<td>cpu:1</td>" in text
        assert "float32[2]" in text

    def test_html_is_escaped(self) -> None:
        text = PerReplica(["<script>", "&"])._repr_html_()
        assert "<script>" not in text
        assert "&lt;script&gt;" in text
        assert "<td>str</td>" in text
        assert "<td>host</td>" in text

    def test_while_it_is_traced(self, strategy: MirroredStrategy) -> None:
        seen: list[str] = []
        value = strategy.experimental_distribute_values_from_function(
            lambda c: jnp.ones(1 + c.replica_id_in_sync_group)
        )
        replax.function(lambda v: seen.append(repr(v)))(value)
        assert seen[0] in (
            "PerReplica(traced float32[1] or [2])",
            "PerReplica(traced float32[2] or [1])",
        )


class TestComponents:
    def test_they_are_on_their_devices(self, strategy: MirroredStrategy) -> None:
        value = stacked(strategy, jnp.ones(2), jnp.zeros(2))
        assert [x.device.id for x in value.values] == [0, 1]
        assert [x.tolist() for x in value.values] == [[1, 1], [0, 0]]
        assert value.values is value.values

    def test_components_of_different_lengths(self, strategy: MirroredStrategy) -> None:
        value = stacked(strategy, jnp.ones((3, 2)), jnp.ones((1, 2)))
        assert [x.shape for x in value.values] == [(3, 2), (1, 2)]

    def test_any_iterable_makes_one(self) -> None:
        values: Any = (i for i in range(2))
        assert PerReplica(values).values == (0, 1)
        assert PerReplica([5]).values == (5,)

    def test_it_is_no_array(self) -> None:
        with pytest.raises(
            TypeError, match=r"give it to strategy.run as an argument, or"
        ):
            jnp.asarray(PerReplica([1.0, 2.0]))

    def test_the_only_component_is_on_the_host_for_the_asking(self) -> None:
        assert PerReplica((jnp.ones(2),)).numpy().tolist() == [1, 1]
        with pytest.raises(AttributeError, match=r"PerReplica.*numpy"):
            _ = PerReplica((1, 2)).numpy

    def test_a_mirrored_value_is_an_array(self) -> None:
        assert jnp.asarray(Mirrored([1.0, 1.0])) == 1
        ones: Any = Mirrored([jnp.ones(2)] * 2)
        assert jnp.add(ones, 1).tolist() == [2, 2]

    def test_components_can_be_computed_with_together(self) -> None:
        value = stacked(MirroredStrategy(["CPU:0", "CPU:1"]), jnp.ones(2), jnp.zeros(2))
        first, second = value.values
        assert [x.device.id for x in value.values] == [0, 1]
        assert (first + second).tolist() == [1, 1]
        assert jnp.stack(value.values).tolist() == [[1, 1], [0, 0]]
        assert [x.committed for x in value.placed] == [True, True]

    def test_it_is_a_pytree(self, strategy: MirroredStrategy) -> None:
        value = stacked(strategy, jnp.ones(2), jnp.zeros(2))
        more = jax.tree.map(lambda x: x + 1, value)
        assert isinstance(more, PerReplica)
        assert [x.tolist() for x in more.values] == [[2, 2], [1, 1]]
        assert [x.device.id for x in more.values] == [0, 1]
        assert len(jax.tree.leaves([value, Mirrored([1, 1])])) == 4
        same = jax.tree.map(lambda x: x, Mirrored([1, 2]))
        assert isinstance(same, Mirrored)

    def test_it_can_be_pickled_and_copied(self, strategy: MirroredStrategy) -> None:
        for value in (
            stacked(strategy, jnp.ones(2), jnp.zeros(2)),
            PerReplica(["a", "b"]),
            Mirrored([1, 1]),
        ):
            for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
                assert type(again) is type(value)
                np.testing.assert_array_equal(
                    np.array(again.values), np.array(value.values)
                )

    def test_both_kinds_are_distributed(self) -> None:
        assert isinstance(PerReplica([1]), DistributedValues)
        assert isinstance(Mirrored([1]), DistributedValues)

    def test_in_a_function_different_shapes_have_no_components(
        self, strategy: MirroredStrategy
    ) -> None:
        value = strategy.experimental_distribute_values_from_function(
            lambda c: jnp.ones(1 + c.replica_id_in_sync_group)
        )
        with pytest.raises(
            TypeError, match=r"different shapes here: .*strategy.run, red"
        ):
            replax.function(lambda v: v.values)(value)


class TestHostValues:
    def test_they_stay_as_they_are_until_they_are_used(
        self, strategy: MirroredStrategy
    ) -> None:
        value = strategy.experimental_distribute_values_from_function(
            lambda c: np.array([2**40 + c.replica_id_in_sync_group])
        )
        assert value.values[1].dtype == np.int64
        with pytest.raises(OverflowError, match=str(2**40)):
            strategy.run(lambda x: x, (value,))
        with jax.enable_x64(True):
            assert strategy.reduce("SUM", value, 0) == 2 * 2**40 + 1

    def test_strings_pass_through(self, strategy: MirroredStrategy) -> None:
        value = strategy.experimental_distribute_values_from_function(
            lambda c: f"r{c.replica_id_in_sync_group}"
        )
        assert strategy.run(lambda x: x, (value,)).values == ("r0", "r1")


class TestTakenForAnArray:
    @pytest.mark.parametrize(
        "use",
        [
            pytest.param(lambda v: v + 1, id="sum"),
            pytest.param(lambda v: 2.0 * v, id="product"),
            pytest.param(lambda v: np.float32(2) * v, id="numpy-product"),
            pytest.param(lambda v: jnp.ones(2) / v, id="jax-quotient"),
            pytest.param(lambda v: v < 0.5, id="comparison"),
            pytest.param(lambda v: v[0], id="element"),
            pytest.param(float, id="float"),
            pytest.param(lambda v: f"{v:.3f}", id="format"),
            pytest.param(np.asarray, id="asarray"),
            pytest.param(np.mean, id="mean"),
            pytest.param(jnp.sum, id="jax-sum"),
        ],
    )
    def test_it_says_what_to_write(self, use: Any) -> None:
        message = r"of a PerReplica.*is not an array.*strategy\.reduce\('MEAN'"
        with pytest.raises(TypeError, match=message):
            use(PerReplica((jnp.ones(2), jnp.zeros(2))))

    def test_an_attribute_says_what_to_write(self) -> None:
        value = PerReplica((jnp.ones(2), jnp.zeros(2)))
        with pytest.raises(AttributeError, match=r"'mean'; it holds one.*reduce\("):
            value.mean()
        assert not hasattr(value, "shape")
        assert f"{value}" == repr(value)
        assert copy.deepcopy(value).values[1].tolist() == [0, 0]
