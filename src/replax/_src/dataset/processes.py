"""Plans as they are executed: what options say about threads and processes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from replax._src.dataset.block import Block, Index
from replax._src.dataset.calling import Caller, Threads, mapped_until_error
from replax._src.dataset.node import Node, rewritten, walk
from replax._src.dataset.options import Options
from replax._src.dataset.transformations.map import Map

__all__ = ["executed"]

# A worker process is given elements of about this size at a time; handing them over
# costs as much as a few thousand bytes.
_PIECE_BYTES = 1 << 16


def executed(plan: Node, options: Options) -> Node:
    """The plan, with its functions called where the options say.

    The worker processes of a plan are started when they are first needed, and end when
    nobody has the plan any more.
    """
    if options.worker_processes:
        return _in_processes(plan, options.worker_processes)
    threads = options.threading.private_threadpool_size
    return _with_threads(plan, threads) if threads else plan


def _with_threads(plan: Node, count: int) -> Node:
    def change(node: Node) -> Node:
        if isinstance(node, Map) and isinstance(node.caller, Threads):
            workers = min(node.caller.workers, count)
            return dataclasses.replace(node, caller=Threads(workers))
        return node

    return rewritten(plan, change)


def _in_processes(plan: Node, count: int) -> Node:
    # By identity: an object that can be called need not be hashable.
    functions = {id(n.function): n.function for n in walk(plan) if isinstance(n, Map)}
    if not functions:
        return plan
    # Loaded here: it takes its time, and most programs have no worker processes.
    from replax._src.dataset.workers.pool import ProcessPool  # noqa: PLC0415

    pool = ProcessPool([_Task(function) for function in functions.values()], count)
    callers = {f: _Processes(pool, which, count) for which, f in enumerate(functions)}

    def change(node: Node) -> Node:
        if isinstance(node, Map):
            return dataclasses.replace(node, caller=callers[id(node.function)])
        return node

    return rewritten(plan, change)


class _Task:
    """A function as worker processes call it: for the elements of a block."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, work: tuple[Block, Index]) -> Block:
        return mapped_until_error(self._function, *work)


class _Processes(Caller):
    """Calls one function in worker processes."""

    piece_bytes = _PIECE_BYTES

    def __init__(self, pool: Any, which: int, count: int) -> None:
        self._pool = pool
        self._which = which
        self.workers = count

    def start(
        self, function: Callable[..., Any], block: Block, numbers: Index
    ) -> Future[Block]:
        """Begins to apply the function to the elements of a block."""
        del function  # the processes have it
        return self._pool.submit(self._which, (block, numbers))

    def __repr__(self) -> str:
        return f"worker_processes={self.workers}"
