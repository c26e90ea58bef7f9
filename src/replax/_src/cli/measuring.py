"""Opening devices, joining the other processes, and a timed sum over all.

As a program it prints what it has found as JSON, in the last line of its output.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from replax._src.cluster.agreement import Agreement, written
from replax._src.cluster.bootstrap import join
from replax._src.cluster.detect import detect
from replax._src.cluster.group import Group
from replax._src.execution.function import function
from replax._src.strategies.current import get_replica_context
from replax._src.strategies.mirrored import MirroredStrategy
from replax._src.strategies.multi_worker_mirrored import MultiWorkerMirroredStrategy
from replax._src.strategies.strategy import Strategy

__all__ = ["FailureError", "in_another_process"]

# How many bytes are summed how often.
_SIZES = {4: 50, 1 << 16: 30, 1 << 22: 10}

# How many seconds it takes at most to compile and to measure, where all is slow.
_MEASURING = 300.0


class FailureError(Exception):
    """What a process said that could not measure."""


def in_another_process(timeout: float) -> dict[str, Any]:
    """Measures in another process.

    Args:
      timeout: How many seconds to wait for the other processes of the cluster.

    Raises:
      FailureError: It failed.
    """
    line = [sys.executable, "-m", __name__, str(timeout)]
    try:
        done = subprocess.run(  # noqa: S603  # it is this module
            line,
            capture_output=True,
            check=False,
            text=True,
            timeout=timeout + _MEASURING,
        )
    except subprocess.TimeoutExpired as error:
        said = error.stderr if isinstance(error.stderr, str) else ""
        msg = f"they took longer than {timeout + _MEASURING:g} s\n{said}"
        raise FailureError(msg) from None
    if done.returncode != 0:
        raise FailureError(done.stderr or f"exit code {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def main(timeout: float) -> None:
    """Prints what it has found."""
    resolver = detect(os.environ).resolver
    group = Group.by_itself() if resolver is None else Group.of_resolver(resolver)
    agreement: Agreement | None = None
    strategy: Strategy
    if group.is_local:
        strategy = MirroredStrategy()
    else:
        agreement = join(group, timeout=int(timeout))
        strategy = MultiWorkerMirroredStrategy(resolver)
    found = {"reports": _reports(agreement), "timings": _timings(strategy)}
    print(json.dumps(found))  # noqa: T201  # it is what it is for


def _reports(agreement: Agreement | None) -> list[Any]:
    devices = jax.local_devices()
    mine = {
        "host": platform.node(),
        "devices": f"{len(devices)} x {devices[0].device_kind}",
        "versions": f"jax {jax.__version__}, "
        f"replax {importlib.metadata.version('replax')}",
    }
    if agreement is None:
        return [mine]
    told = agreement.exchange(written("comparing versions"), json.dumps(mine))
    return [json.loads(text) for text in told]


def _timings(strategy: Strategy) -> list[dict[str, Any]]:
    return [_timing(strategy, size, times) for size, times in _SIZES.items()]


def _timing(strategy: Strategy, size: int, times: int) -> dict[str, Any]:
    summed = function(_summing(strategy))
    ones = np.ones(size // 4, np.float32)
    seconds: list[float] = []
    right = True
    for _ in range(times + 2):
        began = time.perf_counter()
        first, *_ = strategy.experimental_local_results(summed(ones))
        sums = np.asarray(first)
        seconds.append(time.perf_counter() - began)
        right = right and bool((sums == strategy.num_replicas_in_sync).all())
    # The first ones compile.
    return {"bytes": size, "seconds": statistics.median(seconds[2:]), "right": right}


def _summing(strategy: Strategy) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        return get_replica_context().all_reduce("SUM", x)

    return lambda x: strategy.run(step, args=(x,))


if __name__ == "__main__":
    main(float(sys.argv[1]))
