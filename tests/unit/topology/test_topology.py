"""The frozen answer to "which replicas are there?"."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from replax._src.topology import window
from replax._src.topology.topology import REPLICA_AXIS, Topology


def test_devices_stand_in_the_order_of_replicas() -> None:
    devices = [jax.devices()[i] for i in (3, 1, 2)]
    topology = Topology.of_local_devices(devices)
    assert topology.num_replicas == 3
    assert topology.local_replicas == (0, 1, 2)
    assert list(topology.local_devices) == devices
    assert list(topology.mesh.devices) == devices
    assert topology.mesh.axis_names == (REPLICA_AXIS,)
    assert not topology.is_single
    rows = jax.device_put(jnp.arange(3), topology.stacked)
    placed = [(s.device, int(s.data[0])) for s in rows.addressable_shards]
    assert placed == list(zip(devices, range(3), strict=True))


def test_equal_devices_are_equal_topologies() -> None:
    devices = jax.devices()[:2]
    one, other = (Topology.of_local_devices(devices) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != Topology.of_local_devices(devices[::-1])


def test_the_default_topology_follows_the_default_device() -> None:
    assert Topology.of_default_device().devices == (jax.devices()[0],)
    with jax.default_device(jax.devices()[5]):
        assert Topology.of_default_device().devices == (jax.devices()[5],)
    assert Topology.of_default_device() is Topology.of_default_device()


@jax.jit
def _slow(x: jax.Array) -> jax.Array:
    return jax.lax.fori_loop(0, 20_000, lambda _, y: jnp.sin(y) + 1, x)


def test_the_oldest_of_too_many_programs_is_waited_for() -> None:
    window.drain()
    topology = Topology.of_local_devices(jax.devices()[:2])
    start = jax.device_put(jnp.ones((2, 50)), topology.stacked)
    _slow(start).block_until_ready()
    under_way = [_slow(start) for _ in range(window.LIMIT)]
    for token in under_way:
        window.admit(token)
    latest = _slow(start)
    window.admit(latest)
    assert under_way[0].is_ready()
    window.drain()
    assert latest.is_ready()
    window.drain()
