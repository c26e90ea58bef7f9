"""Runs the examples in the docstrings of one package or module, as a program.

``python -m architecture.docstring_examples replax._src.values``
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import sys

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def main() -> int:
    root = importlib.import_module(sys.argv[1])
    modules = [root]
    if hasattr(root, "__path__"):
        modules += [
            importlib.import_module(found.name)
            for found in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")
        ]
    failed = attempted = 0
    for module in modules:
        result = doctest.testmod(module, optionflags=OPTIONS)
        failed += result.failed
        attempted += result.attempted
    print(f"{sys.argv[1]}: {attempted} examples, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    import jax

    jax.config.update("jax_num_cpu_devices", 8)
    sys.exit(main())
