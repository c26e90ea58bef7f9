"""The address at which others find this process."""

from __future__ import annotations

import pytest

from replax._src.cluster.group import Group
from replax._src.cluster.own_address import own_address


def group(process_id: int, *addresses: str, known: bool = True) -> Group:
    return Group(
        addresses[0],
        2,
        process_id,
        "worker",
        process_id,
        addresses=addresses if known else (),
    )


@pytest.mark.parametrize("process_id", [0, 1])
@pytest.mark.parametrize("known", [True, False])
def test_on_one_machine_it_is_the_loopback(process_id: int, *, known: bool) -> None:
    here = group(process_id, "127.0.0.1:5000", "127.0.0.1:5001", known=known)
    assert own_address(here) == "127.0.0.1"


def test_a_host_that_nobody_knows_has_none() -> None:
    nowhere = group(1, "no-such-host.invalid:5000", "here.invalid:5000")
    assert own_address(nowhere) is None


def test_process_0_looks_towards_the_others() -> None:
    # All of 127.0.0.0/8 is this machine; the second address is reached from itself or
    # from 127.0.0.1, and not from the first.
    first = group(0, "127.0.0.9:5000", "127.0.0.1:5000")
    assert own_address(first) == "127.0.0.1"
