"""Importing Replax changes nothing but the list of imported modules."""

from __future__ import annotations

import pytest

from fresh_process import run_python

# What is measured is what Replax adds to its own requirements.
_PROGRAM = """
import os, sys, threading
import jax, numpy

def native_threads():
    folder = "/proc/self/task"
    return len(os.listdir(folder)) if os.path.isdir(folder) else None

before = native_threads()
import {module}

assert native_threads() == before, (native_threads(), before)
assert threading.active_count() == 1, threading.enumerate()
heavy = {{"array_record", "click", "datasets", "flax", "googleapiclient", "grain",
         "keras", "kubernetes", "optax", "orbax", "pandas", "pyarrow", "ray",
         "sklearn", "tensorflow", "torch"}}
assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()
# JAX takes this only as long as no backend has been opened.
jax.config.update("jax_num_cpu_devices", 3)
assert len(jax.devices()) == 3
"""


@pytest.mark.parametrize("module", ["replax", "replax.compat.v2"])
def test_it_starts_no_thread_and_opens_no_backend(module: str) -> None:
    run_python("-c", _PROGRAM.format(module=module))


def test_it_leaves_the_configuration_of_jax_alone() -> None:
    run_python(
        "-c",
        "import jax; before = dict(jax.config.values); import replax; "
        "assert jax.config.values == before; assert not hasattr(jax.Array, 'numpy')",
    )
