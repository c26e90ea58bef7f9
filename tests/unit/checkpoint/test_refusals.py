"""What checkpoints refuse, in words, and what is left unchanged when they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax import VariableSynchronization
from replax.distribute import MirroredStrategy
from replax.errors import DataLossError, InvalidArgumentError, NotFoundError
from replax.train import Checkpoint, latest_checkpoint


def test_a_missing_checkpoint_names_the_nearest(tmp_path: Path) -> None:
    Checkpoint(n=1).save(tmp_path / "run")
    with pytest.raises(
        NotFoundError, match=r"no checkpoint '.*/rum-1'; nearest .*/run-1"
    ):
        Checkpoint(n=1).restore(tmp_path / "rum-1")
    with pytest.raises(
        NotFoundError, match=r"is a folder .*/run-1'.*latest_checkpoint"
    ):
        Checkpoint(n=1).restore(tmp_path)
    with pytest.raises(NotFoundError, match=r"the folder '.*/nowhere' is not there"):
        Checkpoint(n=1).restore(tmp_path / "nowhere" / "ck")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFoundError, match=r"no checkpoints in .*number of the save"):
        Checkpoint(n=1).restore(tmp_path / "empty" / "ck")


@pytest.mark.parametrize(
    ("value", "shown"),
    [([1.0, 2.0, 3.0], r"float32\[3\]"), (np.zeros(2, np.int32), r"int32\[2\]")],
)
def test_another_shape_or_dtype_changes_nothing(
    value: Any, shown: str, tmp_path: Path
) -> None:
    path = Checkpoint(a=replax.Variable(5.0), b=replax.Variable([1.0, 2.0])).save(
        tmp_path / "ck"
    )
    a = replax.Variable(0.0)
    b = replax.Variable(value, name="weights")
    expected = rf"'weights' \(b\) is {shown}, but in .*ck-1' it is float32\[2\]; make"
    with pytest.raises(InvalidArgumentError, match=expected):
        Checkpoint(a=a, b=b).restore(path)
    assert a.numpy() == 0.0


def test_a_value_of_another_kind(tmp_path: Path) -> None:
    path = Checkpoint(n=[1], s="x").save(tmp_path / "ck")
    with pytest.raises(
        InvalidArgumentError, match=r"s is 3, .* has for it is 'x'; give"
    ):
        Checkpoint(s=3).restore(path)
    with pytest.raises(
        InvalidArgumentError, match=r"n\.0 is float32\[2\], .*int64\[\]"
    ):
        Checkpoint(n=[np.zeros(2, np.float32)]).restore(path)


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", print, np.array(["a"])])
def test_what_cannot_be_saved_is_refused_when_it_is_given(value: Any) -> None:
    with pytest.raises(TypeError, match=r"x\.y is .*cannot save; it saves variables"):
        Checkpoint(x={"y": value})


def test_an_object_without_variables_is_not_saved_as_nothing(tmp_path: Path) -> None:
    class State:
        def __init__(self) -> None:
            self.weights = jnp.ones(3)

    late = Checkpoint(state=State())  # its variables may come later
    expected = r"state is .*State.* nothing of it would be saved; make its state"
    with pytest.raises(ValueError, match=expected):
        late.save(tmp_path / "ck")
    assert list(tmp_path.iterdir()) == []


def test_names() -> None:
    with pytest.raises(TypeError, match=r"the key 3; .* use texts as keys: '3'"):
        Checkpoint(x={3: 1.0})
    with pytest.raises(ValueError, match=r"save_counter .*the checkpoint's own; use"):
        Checkpoint(save_counter=3)
    with pytest.raises(TypeError, match=r"got 3 as its root; give .*name it"):
        Checkpoint(3)


def test_paths(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"'gs://bucket/ck-1', and .* mounted"
    ):
        Checkpoint(n=1).save("gs://bucket/ck")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine").write_text("precious")
    with pytest.raises(
        InvalidArgumentError, match=r"something else already; .*data/ck"
    ):
        Checkpoint(n=1).write(tmp_path / "data")
    assert (tmp_path / "data" / "mine").read_text() == "precious"


def test_inside_of_a_step(tmp_path: Path) -> None:
    strategy = MirroredStrategy(["CPU:0", "CPU:1"])
    checkpoint = Checkpoint(n=1)
    path = checkpoint.save(tmp_path / "ck")

    def saves() -> None:
        checkpoint.save(tmp_path / "ck")

    def restores() -> None:
        checkpoint.restore(path)

    with pytest.raises(RuntimeError, match=r"save .* of a step .*; save between"):
        strategy.run(saves)
    with pytest.raises(RuntimeError, match=r"restore .*; restore between"):
        replax.function(restores)()
    assert int(checkpoint.save_counter.numpy()) == 1


def test_no_value_between_steps_is_no_checkpoint(tmp_path: Path) -> None:
    with MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        v = replax.Variable(
            1.0, synchronization=VariableSynchronization.ON_READ, name="loss"
        )
    checkpoint = Checkpoint(a=replax.Variable(jnp.ones(3)), v=v)
    with pytest.raises(ValueError, match="'loss' has a value on each replica"):
        checkpoint.save(tmp_path / "ck")
    assert list(tmp_path.iterdir()) == []
    assert int(checkpoint.save_counter.numpy()) == 0


def test_a_checkpoint_is_complete_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = Checkpoint(v=replax.Variable(1.0))
    path = checkpoint.write(tmp_path / "ck")
    checkpoint.v.assign(2.0)

    def full_disk(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(target))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", full_disk)
        with pytest.raises(OSError, match="No space left"):
            checkpoint.write(tmp_path / "ck")
    assert [x.name for x in tmp_path.iterdir()] == ["ck"]
    checkpoint.restore(path).assert_consumed()
    assert checkpoint.v.numpy() == 1.0


def test_a_damaged_one_and_one_of_somebody_else(tmp_path: Path) -> None:
    checkpoint = Checkpoint(v=replax.Variable(jnp.arange(100.0)))
    path = Path(checkpoint.save(tmp_path / "ck"))
    assert latest_checkpoint(tmp_path) == str(path)
    for found in (path / "arrays").rglob("*"):
        if found.is_file():
            found.unlink()
    with pytest.raises(DataLossError, match=r"arrays cannot be read .*another one"):
        checkpoint.restore(path)
    (path / "manifest" / "metadata").write_text("{}")
    with pytest.raises(DataLossError, match="cannot be read as a checkpoint of Replax"):
        checkpoint.restore(path)
    assert latest_checkpoint(tmp_path) is None
