"""Initial values that all processes take from worker 0."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.cluster.agreement import written
from replax._src.core import host
from replax._src.topology import window
from replax._src.topology.topology import Topology

__all__ = ["from_first_process"]


def from_first_process(
    leaves: Sequence[jax.Array], topology: Topology, name: str
) -> tuple[jax.Array, ...]:
    """The arrays that process 0 has, on all processes; bit for bit.

    Args:
      leaves: The arrays of this process, of the same shapes and dtypes everywhere.
      topology: The replicas.
      name: What they are for, for the error if shapes or dtypes differ.
    """
    agreement = topology.agreement
    if agreement is None:
        return tuple(leaves)
    kinds = [(name, f"{x.dtype}{list(x.shape)}") for x in leaves]
    agreement.enter(written("creating a variable", kinds))
    values = [host.to_numpy(x) for x in leaves]
    # As whole words, whose sum with zeros is exact whatever they stand for.
    data = b"".join(value.tobytes() for value in values)
    words = np.frombuffer(data + bytes(-len(data) % 4), np.uint32)
    if agreement.coordination.rank != 0:
        words = np.zeros_like(words)
    data = _of_first(words, topology).tobytes()
    found: list[jax.Array] = []
    for leaf, value in zip(leaves, values, strict=True):
        mine, data = data[: value.nbytes], data[value.nbytes :]
        array = jnp.asarray(np.frombuffer(mine, value.dtype).reshape(value.shape))
        found.append(host.of_numbers(array, leaf))
    return tuple(found)


def _of_first(words: np.ndarray, topology: Topology) -> np.ndarray:
    """The sum over processes, of which all but one bring zeros."""
    nothing = np.zeros_like(words)
    rows = [
        jax.device_put((words if i == 0 else nothing)[None], device)
        for i, device in enumerate(topology.local_devices)
    ]
    stacked = jax.make_array_from_single_device_arrays(
        (topology.num_replicas, len(words)), topology.stacked, rows
    )
    total, token = _program(topology)(stacked)
    if topology.is_cpu:
        window.admit(token)
    return np.asarray(total.addressable_data(0))


@functools.cache
def _program(topology: Topology) -> Callable[[jax.Array], tuple[jax.Array, jax.Array]]:
    def total(stacked: jax.Array) -> tuple[jax.Array, jax.Array]:
        return stacked.sum(0, dtype=stacked.dtype), jnp.zeros((), jnp.int32)

    return jax.jit(total, out_shardings=topology.replicated)
