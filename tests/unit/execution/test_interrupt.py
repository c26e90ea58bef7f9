"""Ctrl-C in an eager run, whichever replica is running."""

from __future__ import annotations

import pytest

from fresh_process import EIGHT_DEVICES, run_python

PROGRAM = """
import _thread, logging, signal
# A job in the background of a shell is started with Ctrl-C ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
import jax.numpy as jnp
import replax
from replica_threads import require_no_replica_running
logging.disable(logging.WARNING)
strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])
with strategy.scope():
    v = replax.Variable(1.0, aggregation=replax.VariableAggregation.SUM, name="v")

def step(interrupted):
    context = replax.distribute.get_replica_context()
    v.assign_add(jnp.ones(()))
    if context.replica_id_in_sync_group == interrupted:
        _thread.interrupt_main()
        # The signal reaches the main thread while it waits, or right here.
        for _ in range(1000):
            context.all_reduce("SUM", jnp.ones(()))
    for _ in range(1000):
        context.all_reduce("SUM", jnp.ones(()))

try:
    strategy.run(step, (%d,))
except KeyboardInterrupt:
    print("interrupted")
require_no_replica_running()
print(strategy.experimental_local_results(v))
print(strategy.run(lambda: replax.distribute.get_replica_context().all_reduce(
    "SUM", jnp.ones(()))).values[0])
"""


@pytest.mark.parametrize("running", [0, 2])
def test_it_ends_the_run_and_changes_nothing(running: int) -> None:
    printed = run_python("-c", EIGHT_DEVICES + PROGRAM % running).splitlines()
    assert printed[0] == "interrupted"
    one = "Array(1., dtype=float32)"
    assert printed[-2] == f"({one}, {one}, {one})"
    assert printed[-1] == "3.0"
