"""Sums composed of exchanges, on virtual devices that stand for processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec

from replax._src.replica.between_processes import sum_between_processes
from replax._src.topology.topology import REPLICA_AXIS, Topology
from replax._src.topology.wiring import Wiring

# From what is padded to what is left to XLA.
LENGTHS = (0, 1, 3000, 100_000, 600_000, 1_500_000)


def summed(rows: Sequence[np.ndarray], wiring: Wiring, replicas: int) -> list[Any]:
    """What every replica ends with, replicas on a leading axis."""
    topology = Topology.of_local_devices(jax.devices()[:replicas])

    def total(*mine: jax.Array) -> list[jax.Array]:
        sums = sum_between_processes([x[0] for x in mine], wiring, replicas)
        return [x[None] for x in sums]

    over = PartitionSpec(REPLICA_AXIS)
    program = jax.shard_map(
        total, mesh=topology.mesh, in_specs=over, out_specs=over, check_vma=False
    )
    return [np.asarray(x) for x in jax.jit(program)(*rows)]


@pytest.mark.parametrize(
    ("processes", "replicas"), [(2, 2), (3, 3), (4, 4), (5, 5), (2, 4), (2, 6), (3, 6)]
)
def test_every_replica_has_the_same_bits_of_the_sum(
    processes: int, replicas: int
) -> None:
    random = np.random.default_rng(replicas)
    rows = [random.normal(size=(replicas, n)).astype("f") for n in LENGTHS]
    for row, total in zip(rows, summed(rows, Wiring(processes), replicas), strict=True):
        np.testing.assert_allclose(total[0], row.sum(0), rtol=1e-4, atol=1e-5)
        assert all(other.tobytes() == total[0].tobytes() for other in total)


def test_shapes_and_dtypes_are_kept_and_packs_are_of_one_dtype() -> None:
    rows = [
        np.ones((2, 3, 4), np.float32),
        np.full((2, 2), 5, np.int8),
        np.full((2, 7), 1j, np.complex64),
        np.ones((2,), np.float32),
        np.ones((2, 5), jnp.bfloat16),
    ]
    for row, total in zip(rows, summed(rows, Wiring(2), 2), strict=True):
        assert total.shape == row.shape
        assert total.dtype == row.dtype
        np.testing.assert_array_equal(total, row * 2)


def test_bytes_per_pack_bounds_what_is_sent_together() -> None:
    arrays = [jnp.ones((4, 100)), jnp.ones((8, 100)), jnp.ones(100)]

    def exchanges(bytes_per_pack: int) -> int:
        wiring = Wiring(2, bytes_per_pack)
        traced = jax.make_jaxpr(
            lambda *x: sum_between_processes(x, wiring, 2), axis_env=[(REPLICA_AXIS, 2)]
        )(*arrays)
        return sum("permute" in eqn.primitive.name for eqn in traced.jaxpr.eqns)

    assert exchanges(0) == 1
    assert exchanges(4000) == 2
    assert exchanges(1) == 3
