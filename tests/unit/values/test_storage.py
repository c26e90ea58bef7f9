"""Where the arrays of a variable are: whole, or in parts."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from replax._src.topology.topology import Topology
from replax._src.values.storage import Store

ORDERS = [(0, 1, 2), (5, 1, 3), (4,)]


def stored(order: tuple[int, ...], *, parts_differ: bool) -> Store:
    topology = Topology.of_local_devices([jax.devices()[i] for i in order])
    store = Store(topology, parts_differ=parts_differ)
    store.fill((jnp.arange(2.0), jnp.float32(7)))
    return store


def device_of(array: jax.Array) -> int:
    (device,) = array.devices()
    return device.id


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("parts_differ", [False, True])
def test_parts_are_on_the_devices_of_their_replicas(
    order: tuple[int, ...], parts_differ: bool
) -> None:
    store = stored(order, parts_differ=parts_differ)
    assert len(store.parts()) == len(order)
    for number, (rows, scalar) in zip(order, store.parts(), strict=True):
        assert device_of(rows) == device_of(scalar) == number
        assert rows.tolist() == [0, 1]
        assert scalar.shape == ()


@pytest.mark.parametrize("order", ORDERS[:2])
def test_parts_become_rows_and_rows_parts(order: tuple[int, ...]) -> None:
    store = stored(order, parts_differ=True)
    for index in range(3):
        store.set_part(index, (np.full(2, index, np.float32), jnp.float32(index)))
    rows, scalars = store.join()
    assert rows.shape == (3, 2)
    assert scalars.tolist() == [0, 1, 2]
    store.whole = (rows * 2, scalars * 2)
    assert [p[1].tolist() for p in store.parts()] == [0, 2, 4]
    assert [device_of(p[0]) for p in store.parts()] == list(order)


def test_a_replaced_part_is_seen_whole() -> None:
    store = stored((0, 1, 2), parts_differ=False)
    store.join()
    for index in range(3):
        store.set_part(index, (jnp.ones(2), jnp.float32(1)))
    assert [x.tolist() for x in store.join()] == [[1, 1], 1]
    assert store.exposed


def test_what_somebody_holds_is_copied_before_it_is_reused() -> None:
    store = stored((0, 1), parts_differ=False)
    held = store.join()
    released = store.release()
    assert not any(a is b for a, b in zip(held, released, strict=True))
    assert not store.exposed
    assert store.release() is released


def test_two_stores_of_the_same_arrays_do_not_reuse_them() -> None:
    store = stored((0, 1), parts_differ=False)
    store.release()
    copy = store.copied()
    assert store.exposed
    assert copy.exposed
    copy.set_part(0, (jnp.ones(2), jnp.float32(1)))
    assert store.part(0)[1] == 7
