"""A loop that an error ends leaves a model with the values of its last step."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest

from interrupting import interrupted_at_each_point
from keras_training import all_state, check_equal_state, classifier, in_scope, rows

BATCH = 6
X, Y = rows(4 * BATCH)
LOOPS: dict[str, Any] = {"fit": {"shuffle": False}, "evaluate": {}, "predict": {}}


def failing_after(
    count: int, raise_: Callable[[], Any]
) -> Generator[tuple[np.ndarray, np.ndarray]]:
    for start in range(0, count * BATCH, BATCH):
        yield X[start : start + BATCH], Y[start : start + BATCH]
    raise_()


def fail() -> None:
    msg = "the disk is gone"
    raise OSError(msg)


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("error", [fail, interrupt])
@pytest.mark.parametrize("executions", [1, 2])
# Keras asks for a second batch before the first step.
@pytest.mark.parametrize(("count", "trained"), [(1, 0), (3, 3)])
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("replicas", [1, 2])
def test_data_that_fail(
    replicas: int,
    loop: str,
    count: int,
    trained: int,
    executions: int,
    error: Callable[[], Any],
) -> None:
    model = in_scope(replicas, lambda: classifier(steps_per_execution=executions))
    wanted = in_scope(replicas, classifier)
    wanted.optimizer.build(wanted.trainable_variables)
    if loop == "fit":
        for start in range(0, trained * BATCH, BATCH):
            wanted.train_on_batch(X[start : start + BATCH], Y[start : start + BATCH])
    model.optimizer.build(model.trainable_variables)
    with pytest.raises((OSError, KeyboardInterrupt)) as caught:
        getattr(model, loop)(failing_after(count, error), verbose=0, **LOOPS[loop])
    assert isinstance(caught.value, OSError) == (error is fail)
    check_equal_state(model, wanted)
    model.fit(X, Y, batch_size=2 * BATCH, verbose=0)


@pytest.mark.parametrize("loop", ["train_on_batch", "test_on_batch"])
@pytest.mark.parametrize("replicas", [1, 2])
def test_a_batch_that_does_not_fit(replicas: int, loop: str) -> None:
    model = in_scope(replicas, classifier)
    model.fit(X, Y, verbose=0)
    before = all_state(model)
    with pytest.raises(ValueError, match="expected axis -1"):
        getattr(model, loop)(np.zeros((4, 9), np.float32), np.zeros(4, np.int32))
    for given, value in zip(all_state(model), before, strict=True):
        np.testing.assert_array_equal(given, value)
    assert np.isfinite(model.train_on_batch(X[:4], Y[:4])).all()


@pytest.mark.parametrize("replicas", [1, 2])
def test_ctrl_c_while_a_step_is_started(replicas: int) -> None:
    model = in_scope(replicas, classifier)
    model.fit(X, Y, verbose=0)

    def look() -> None:
        assert all(np.isfinite(value).all() for value in all_state(model))

    files = ("keras/functions.py", "topology/window.py")
    points = interrupted_at_each_point(
        lambda: model.fit(X, Y, batch_size=len(X), verbose=0), look, files
    )
    assert points > 4
    assert np.isfinite(model.train_on_batch(X[:4], Y[:4])).all()
