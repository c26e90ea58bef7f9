"""Putting whole values on all replicas of this process."""

from __future__ import annotations

from typing import Any

import jax

from replax._src.core.jax_compat import KeyArrayClass
from replax._src.topology.topology import Topology

__all__ = ["replicated"]


def replicated(array: Any, topology: Topology) -> jax.Array:
    """The array on every replica.

    With several processes each gives its own, which have to be equal: JAX would compare
    them in a collective at every call.
    """
    if topology.agreement is None:
        return jax.device_put(array, topology.replicated)
    if isinstance(array, KeyArrayClass):
        numbers = replicated(jax.random.key_data(array), topology)
        return jax.random.wrap_key_data(numbers, impl=jax.random.key_impl(array))
    copies = [jax.device_put(array, device) for device in topology.local_devices]
    return jax.make_array_from_single_device_arrays(
        array.shape, topology.replicated, copies
    )
