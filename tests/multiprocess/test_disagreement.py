"""Processes that are about to do different things are told so."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax.distribute.experimental import CommunicationOptions
from replax.testing import ProcessesError, current_process, run_processes

_REMEDY = "All have to come to the same operations in the same order"


def context() -> Any:
    return replax.distribute.get_replica_context()


def error_of(function: Callable[[], Any]) -> str:
    try:
        return f"no error: {function()}"
    except Exception as error:  # noqa: BLE001  # whichever it is, is what is tested
        return f"{type(error).__name__}: {error}"


def disagreements() -> dict[str, str]:
    """The errors of one process, one after the other: none of them ends the group."""
    options = CommunicationOptions(timeout_seconds=60)
    strategy = replax.distribute.MultiWorkerMirroredStrategy(
        communication_options=options
    )
    rank = current_process().rank
    values = strategy.experimental_distribute_values_from_function

    def summed(x: Any) -> Any:
        return context().all_reduce("SUM", x)

    def eagerly(length: int) -> Any:
        return strategy.run(summed, args=(jnp.ones(length),))

    def compiled() -> Any:
        ones = np.ones(3 + 2 * rank, np.float32)
        return replax.function(lambda: strategy.run(summed, args=(ones,)))()

    def hidden() -> Any:
        """The shapes differ inside of the step only."""
        step = lambda: strategy.run(lambda: summed(jnp.ones(3 + 2 * rank)))  # noqa: E731
        return replax.function(step)()

    def another_operation() -> Any:
        x = values(lambda _: np.ones((2, 2), np.float32))
        return strategy.gather(x, 0) if rank else strategy.reduce("SUM", x, axis=0)

    def assigned() -> Any:
        with strategy.scope():
            v = replax.Variable(0.0, name="drifting")
        return strategy.run(lambda: v.assign(float(rank)) and None)

    def created() -> Any:
        with strategy.scope():
            return replax.Variable(np.ones(3 + 2 * rank), name="grown")

    def dtypes() -> Any:
        return values(lambda _: jnp.ones(3, "int32" if rank else "float32"))

    errors = {
        # Known on rank 0, which has done it before.
        "warm": (eagerly(3), error_of(lambda: eagerly(3 + 2 * rank)))[1],
        "compiled": error_of(compiled),
        "hidden": error_of(hidden),
        "operation": error_of(another_operation),
        "assigned": error_of(assigned),
        "created": error_of(created),
        "dtypes": error_of(lambda: strategy.reduce("SUM", dtypes(), axis=None)),
    }
    # And they go on.
    errors["after"] = str(strategy.reduce("SUM", values(lambda _: 1.0), axis=None))
    return errors


def test_different_shapes_and_operations_are_an_error_on_every_process() -> None:
    for errors in run_processes(2, disagreements, timeout=240).values:
        for name in ("warm", "compiled", "hidden"):
            assert errors[name].startswith("InvalidArgumentError"), errors
            for text in ("rank 0 is at", "float32[3]", "rank 1 is at", "float32[5]"):
                assert text in errors[name]
            assert _REMEDY in errors[name]
        assert "array 0 float32[3]" in errors["warm"]
        assert "rank 0 is at reduce('SUM', axis=(0,))" in errors["operation"]
        assert "rank 1 is at gather along axis 0" in errors["operation"]
        assert "'drifting' has no aggregation" in errors["assigned"]
        assert re.search(r"of rank \d and of rank \d differ", errors["assigned"])
        assert "grown float32[3]" in errors["created"]
        assert "grown float32[5]" in errors["created"]
        assert "int32 of 1 dimensions" in errors["dtypes"]
        assert errors["after"] == "2.0"


def only_one_knows_it() -> str:
    """Rank 0 has run the program before, and waits in it when rank 1 finds out."""
    strategy = replax.distribute.MultiWorkerMirroredStrategy()

    @replax.function
    def step(x: Any) -> Any:
        return strategy.run(lambda: context().all_reduce("SUM", x))

    step(np.ones(3, np.float32))
    length = 3 + 2 * current_process().rank
    return str(step(np.ones(length, np.float32)))


def test_a_process_that_waits_inside_of_a_collective_is_told_too() -> None:
    with pytest.raises(ProcessesError) as caught:
        run_processes(2, only_one_knows_it, grace=60, timeout=240)
    failures = caught.value.failures
    assert sorted(failures) == [0, 1]
    for failure in failures.values():
        text = f"{failure.output}{failure}"
        for part in ("rank 0 is at running", "float32[3]", "rank 1 is", "float32[5]"):
            assert part in text


def known_and_in_another_order() -> str:
    """Both wait in collectives, for which neither has to ask the other one."""
    strategy = replax.distribute.MultiWorkerMirroredStrategy()
    ones = strategy.experimental_distribute_values_from_function(
        lambda _: np.ones(3, np.float32)
    )

    @replax.function
    def step(x: Any) -> Any:
        return strategy.run(lambda x: context().all_reduce("SUM", x), args=(x,))

    def run() -> Any:
        return strategy.experimental_local_results(step(np.ones(3, np.float32)))

    def reduce() -> Any:
        return strategy.reduce("SUM", ones, axis=None)

    run()
    reduce()
    first, second = (run, reduce) if current_process().rank else (reduce, run)
    return f"{first()} {second()}"


def test_known_operations_in_another_order_are_found_too() -> None:
    with pytest.raises(ProcessesError) as caught:
        run_processes(2, known_and_in_another_order, grace=60, timeout=240)
    assert not caught.value.stopped
    failures = caught.value.failures
    assert sorted(failures) == [0, 1]
    text = "".join(f"{failure.output}{failure}" for failure in failures.values())
    assert "rank 0 is at reduce('SUM', axis=None)" in text
    assert re.search(r"rank 1 is at running \S*step with argument 0 float32\[3\]", text)
    assert _REMEDY in text


def one_ends_after_another_step() -> None:
    strategy = replax.distribute.MultiWorkerMirroredStrategy()

    @replax.function
    def step(x: Any) -> Any:
        return strategy.run(lambda x: context().all_reduce("SUM", x), args=(x,))

    @replax.function
    def other(x: Any) -> Any:
        return strategy.run(lambda x: context().all_reduce("MEAN", x), args=(x,))

    step(np.float32(1))
    (other if current_process().rank else step)(np.float32(1))


def test_a_process_at_its_end_still_answers() -> None:
    with pytest.raises(ProcessesError) as caught:
        run_processes(2, one_ends_after_another_step, grace=60, timeout=240)
    assert not caught.value.stopped
    error = str(caught.value.failures[1].error)
    assert re.search(r"rank 0 is at running \S*step with", error), error
    assert re.search(r"rank 1 is at running \S*other with", error), error


def somebody_does_not_come() -> str:
    options = CommunicationOptions(timeout_seconds=4)
    strategy = replax.distribute.MultiWorkerMirroredStrategy(
        communication_options=options
    )
    with strategy.scope():
        v = replax.Variable(0.0)
    if current_process().rank == 0:
        return error_of(lambda: strategy.run(lambda: context().all_reduce("SUM", 1.0)))
    return repr(v)


def test_who_is_waited_for_in_vain_is_named() -> None:
    try:
        error = run_processes(2, somebody_does_not_come, timeout=240).values[0]
    except ProcessesError as failed:
        error = str(failed)
    assert "rank 1" in error
    assert "all processes have to run the same steps" in error


def with_different_devices() -> str:
    import jax

    jax.config.update("jax_num_cpu_devices", 1 + current_process().rank)
    return error_of(replax.distribute.MultiWorkerMirroredStrategy)


def test_workers_with_different_numbers_of_devices_are_refused_everywhere() -> None:
    for error in run_processes(2, with_different_devices, devices=None).values:
        assert "rank 0 has 1, rank 1 has 2" in error
        assert "set_logical_device_configuration" in error


def too_late() -> str:
    jnp.ones(3)
    return error_of(replax.distribute.MultiWorkerMirroredStrategy)


def test_a_strategy_that_is_made_too_late_says_which_line_to_move() -> None:
    (error, _) = run_processes(2, too_late).values
    assert "JAX has opened its devices already" in error
    assert "move the line that creates it to the top" in error
