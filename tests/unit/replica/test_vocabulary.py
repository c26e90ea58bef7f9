"""Operations and options by name."""

from __future__ import annotations

from typing import Any

import pytest

from replax.distribute import ReduceOp
from replax.distribute.experimental import (
    CollectiveCommunication,
    CommunicationImplementation,
    CommunicationOptions,
)


def test_operations_have_the_values_of_their_names() -> None:
    assert {op.name: op.value for op in ReduceOp} == {"SUM": "SUM", "MEAN": "MEAN"}
    for name in ("mean", "Mean", "MEAN"):
        assert ReduceOp.of(name) is ReduceOp.of(ReduceOp.MEAN) is ReduceOp.MEAN


@pytest.mark.parametrize("op", ["avg", "", 1, None])
def test_other_operations_are_named(op: Any) -> None:
    with pytest.raises(ValueError, match=r"ReduceOp.SUM, ReduceOp.MEAN or one of") as e:
        ReduceOp.of(op)
    assert str(e.value).startswith(repr(op))


def test_communication_options() -> None:
    nccl: Any = "nccl"
    options = CommunicationOptions(implementation=nccl, timeout_seconds=1.5)
    assert options.implementation is CommunicationImplementation.NCCL
    assert options == CommunicationOptions(0, 1.5, CommunicationImplementation.NCCL)
    assert CollectiveCommunication is CommunicationImplementation


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"bytes_per_pack": -1}, "bytes_per_pack is -1; it must be 0 or more"),
        ({"timeout_seconds": 0}, "timeout_seconds is 0; it must be positive"),
        ({"implementation": "MPI"}, "'MPI' is not a valid|implementation is 'MPI'"),
    ],
)
def test_options_that_make_no_sense(kwargs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CommunicationOptions(**kwargs)
