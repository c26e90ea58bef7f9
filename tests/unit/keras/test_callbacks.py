"""Callbacks of Keras see what they see without a strategy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from keras_training import (
    all_state,
    check_equal_histories,
    check_equal_state,
    classifier,
    in_scope,
    rows,
)

X, Y = rows(21)
OPTIONS: Any = {"batch_size": 8, "shuffle": False, "verbose": 0}


def test_model_checkpoint_and_loading(tmp_path: Path) -> None:
    path = tmp_path / "best.keras"
    model = in_scope(3, classifier)
    saving = keras.callbacks.ModelCheckpoint(path, monitor="loss", save_best_only=True)
    model.fit(X, Y, epochs=2, callbacks=[saving], **OPTIONS)
    wanted = model.predict(X, verbose=0)
    # On other replicas, and on one device.
    for replicas in (2, 0):
        loaded = in_scope(replicas, lambda: keras.models.load_model(path))
        given = loaded.predict(X, verbose=0)
        np.testing.assert_allclose(given, wanted, rtol=1e-4, atol=1e-5)
        loaded.fit(X, Y, epochs=1, **OPTIONS)


def test_early_stopping() -> None:
    histories = []
    for replicas in (3, 0):
        stopping = keras.callbacks.EarlyStopping(
            monitor="loss", mode="max", patience=1, restore_best_weights=True
        )
        model = in_scope(replicas, classifier)
        history = model.fit(X, Y, epochs=9, callbacks=[stopping], **OPTIONS)
        histories.append(history.history)
        assert len(history.history["loss"]) < 9
    check_equal_histories(*histories)


class StoppedError(Exception):
    pass


class Stops(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if epoch == 2:
            raise StoppedError


def test_backup_and_restore_goes_on_with_other_replicas(tmp_path: Path) -> None:
    def backup() -> Any:
        return keras.callbacks.BackupAndRestore(tmp_path / "backup")

    model = in_scope(3, classifier)
    with pytest.raises(StoppedError):
        model.fit(X, Y, epochs=4, callbacks=[backup(), Stops()], **OPTIONS)
    model = in_scope(2, classifier)
    rest = model.fit(X, Y, epochs=4, callbacks=[backup()], **OPTIONS).history
    alone = classifier()
    whole = alone.fit(X, Y, epochs=4, **OPTIONS).history
    check_equal_histories(rest, {k: v[2:] for k, v in whole.items()})
    check_equal_state(model, alone)


def test_a_callback_may_evaluate_and_change_the_model() -> None:
    class Changes(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            model: Any = self.model
            self.seen = model.evaluate(X[:5], Y[:5], return_dict=True, verbose=0)
            model.optimizer.learning_rate = 0.01
            model.layers[0].set_weights(
                [w * 0.5 for w in model.layers[0].get_weights()]
            )

    seen = []
    for replicas in (3, 0):
        callback = Changes()
        model = in_scope(replicas, classifier)
        model.fit(X, Y, epochs=2, callbacks=[callback], **OPTIONS)
        seen.append((callback.seen, all_state(model)))
    check_equal_histories(seen[0][0], seen[1][0])
    for given, wanted in zip(seen[0][1], seen[1][1], strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-4, atol=1e-5)


def test_every_batch_is_reported() -> None:
    losses: list[float] = []
    callback = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda _, logs: losses.append(float(logs["loss"]))
    )
    in_scope(2, classifier).fit(X, Y, callbacks=[callback], **OPTIONS)
    assert len(losses) == 3


def test_tensorboard_writes_its_file(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    pytest.importorskip("tensorboard")
    callback = keras.callbacks.TensorBoard(str(tmp_path))
    in_scope(2, classifier).fit(X, Y, callbacks=[callback], **OPTIONS)
    assert list(tmp_path.rglob("events*"))


def test_progress_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    model = in_scope(3, classifier)
    model.fit(X, Y, **{**OPTIONS, "verbose": 2})
    assert capsys.readouterr().out.count("loss:") == 1
