"""Tests with several processes.

>>> from replax.testing import run_processes
>>> run_processes(2, lambda: "done").values
['done', 'done']
"""

from replax._src.testing.failures import ProcessesError, ProcessFailure
from replax._src.testing.run import ProcessesResult, run_processes
from replax._src.testing.surroundings import CurrentProcess, current_process

__all__ = [
    "CurrentProcess",
    "ProcessFailure",
    "ProcessesError",
    "ProcessesResult",
    "current_process",
    "run_processes",
]
