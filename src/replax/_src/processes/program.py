"""How a process is started that runs modules of ours, but does not import the package.

Importing the package imports JAX, which takes half a second and may be set up wrongly
for what the process is to do.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType

__all__ = ["command"]

# Loads files under the names they have in the package, so that the imports among them
# are found. The last one has the function `main`, which gets the other arguments.
_PROGRAM = """
import importlib.util, sys
count = int(sys.argv[1])
files, arguments = sys.argv[2 : 2 + 2 * count], sys.argv[2 + 2 * count :]
for name, path in zip(files[::2], files[1::2]):
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
module.main(*map(int, arguments))
"""


def command(modules: Sequence[ModuleType], *arguments: int) -> list[str]:
    """The command line of a new Python that runs ``main`` of the last of ``modules``.

    Args:
      modules: What it needs of ours, each after those that it imports.
      arguments: What ``main`` is called with: descriptors that it inherits.

    Raises:
      RuntimeError: No Python is known that could be started.
    """
    if not sys.executable:
        raise RuntimeError(
            "sys.executable is empty, so no process can be started (this Python is "
            "embedded in another program); set sys.executable to a Python"
        )
    files = [part for m in modules for part in (m.__name__, str(m.__file__))]
    line = [sys.executable, "-P", "-c", _PROGRAM, str(len(modules)), *files]
    return [*line, *map(str, arguments)]
