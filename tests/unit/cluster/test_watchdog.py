"""The parts of the watchdog that need no group."""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp
import pytest

from processes import wait_until
from replax._src.cluster.beacon import Beacon
from replax._src.cluster.watchdog import timeout_of
from replax._src.core.jax_compat import is_compiling


def test_steps_are_counted_from_zero() -> None:
    beacon = Beacon()
    assert beacon.now == ("program", 0)
    beacon.begin_step()
    assert beacon.now == ("step", 0)
    beacon.enter("input")
    assert beacon.now == ("input", 1)


def test_entering_the_same_phase_again_is_seen() -> None:
    beacon = Beacon()
    beacon.enter("input")
    before = beacon.now
    beacon.enter("input")
    assert beacon.now is not before


def test_the_timeout_is_read_from_the_environment() -> None:
    assert timeout_of({}) == 600
    assert timeout_of({"REPLAX_STALL_TIMEOUT": "5"}) == 5
    assert timeout_of({"REPLAX_STALL_TIMEOUT": "inf"}) == float("inf")


@pytest.mark.parametrize("text", ["", "soon", "0", "-3", "nan"])
def test_a_timeout_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"is '{text}', which is no .* write for"):
        timeout_of({"REPLAX_STALL_TIMEOUT": text})


def test_compiling_is_seen_from_other_threads() -> None:
    def sort_many_times(x: jax.Array) -> jax.Array:
        for i in range(40):
            x = jnp.sort(x * i)
        return x

    lowered = jax.jit(sort_many_times).lower(jnp.ones(9))
    assert not is_compiling()
    compiling = threading.Thread(target=lowered.compile)
    compiling.start()
    wait_until(is_compiling, "the other thread compiles")
    compiling.join()
    assert not is_compiling()
