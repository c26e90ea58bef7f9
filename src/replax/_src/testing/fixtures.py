"""The fixture of pytest. The only module that imports pytest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from replax._src.testing import run
from replax._src.testing.failures import ProcessesError
from replax._src.testing.run import ProcessesResult

__all__ = ["run_processes"]


@pytest.fixture
def run_processes(request: pytest.FixtureRequest) -> Callable[..., ProcessesResult]:
    """``replax.testing.run_processes``; a failed test shows what each process printed.

    In ``conftest.py``::

        pytest_plugins = ["replax.testing.fixtures"]

    and in a test::

        def test_ranks(run_processes):
            assert run_processes(2, lambda: current_process().rank).values == [0, 1]

    >>> from replax.testing import current_process, run_processes
    >>> run_processes(2, lambda: current_process().rank).values
    [0, 1]
    """

    def run_and_report(
        n: int, fn: Callable[..., Any], /, *args: Any, **options: Any
    ) -> ProcessesResult:
        try:
            result = run.run_processes(n, fn, *args, **options)
        except ProcessesError as error:
            outputs = [error.outputs[rank] for rank in sorted(error.outputs)]
            _report(request, outputs)
            raise
        _report(request, result.outputs)
        return result

    return run_and_report


def _report(request: pytest.FixtureRequest, outputs: Sequence[str]) -> None:
    for rank, output in enumerate(outputs):
        if output.strip():
            request.node.add_report_section("call", f"rank {rank}", output)
