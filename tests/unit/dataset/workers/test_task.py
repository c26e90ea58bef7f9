"""A task is run unless it is cancelled before, and has one outcome."""

from __future__ import annotations

import functools

import pytest

from replax._src.dataset.workers.task import Task, name_of


def test_a_claimed_task_cannot_be_cancelled_and_can_be_claimed_again() -> None:
    task = Task(3, 0, "decode", 1)
    assert task.claim()
    assert not task.future.cancel()
    assert task.claim()


def test_a_cancelled_task_is_not_run() -> None:
    task = Task(3, 0, "decode", 1)
    assert task.future.cancel()
    assert not task.claim()


def test_the_first_outcome_counts() -> None:
    task = Task(3, 0, "decode", 1)
    assert task.claim()
    task.fail(ValueError("first"))
    task.fail(ValueError("second"))
    with pytest.raises(ValueError, match="first"):
        task.future.result(0)


def test_functions_are_called_by_their_names() -> None:
    assert name_of(abs) == "abs"
    assert name_of(functools.partial(functools.partial(pow, 2), 3)) == "pow"
    assert name_of(functools.cmp_to_key) == "cmp_to_key"
    assert str(Task(3, 0, "decode", 1)) == "task 3 (function decode)"
