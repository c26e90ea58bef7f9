"""Checkpoints of two workers: each has the whole value, and needs nobody to save it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import replax
from replax.testing import run_processes


def made(strategy: Any) -> dict[str, Any]:
    on_read: dict[str, Any] = {
        "synchronization": replax.VariableSynchronization.ON_READ,
        "aggregation": replax.VariableAggregation.SUM,
    }
    with strategy.scope():
        return {
            "weights": replax.Variable({"w": [0.0, 0.0], "b": np.int32(0)}),
            "seen": replax.Variable(0.0, **on_read),
        }


def train_save_and_restore(folder: str) -> dict[str, Any]:
    from replax.testing import current_process
    from replax.train import Checkpoint, latest_checkpoint

    rank = current_process().rank
    strategy = replax.distribute.MultiWorkerMirroredStrategy()
    variables = made(strategy)

    def step() -> None:
        replica = replax.distribute.get_replica_context()
        row = replica.replica_id_in_sync_group + 1.0
        total = replica.all_reduce("SUM", row)
        old = variables["weights"].read_value()
        variables["weights"].assign({"w": old["w"] + total, "b": old["b"] + 1})
        variables["seen"].assign_add(row)

    strategy.run(step)
    checkpoint = Checkpoint(**variables, rank=rank)
    own = checkpoint.save(f"{folder}/of_{rank}/ck")
    # All to one path, at the same time.
    same = checkpoint.write(f"{folder}/shared")
    # One alone: what is mirrored is there without the others.
    alone = f"{folder}/alone"
    if rank == 1:
        Checkpoint(weights=variables["weights"]).write(alone)

    strategy.run(step)
    status = checkpoint.restore(own)
    status.assert_consumed()
    seen = strategy.experimental_local_results(variables["seen"])
    return {
        "weights": variables["weights"].numpy(),
        "seen": [float(x) for x in seen],
        "total": float(variables["seen"].numpy()),
        "rank": checkpoint.rank,
        "latest": latest_checkpoint(f"{folder}/of_{rank}") == own,
        "same": same,
    }


def test_each_saves_what_all_have_and_restores_it(tmp_path: Path) -> None:
    ran = run_processes(2, train_save_and_restore, str(tmp_path), devices=2)
    for rank, found in enumerate(ran.values):
        np.testing.assert_array_equal(found["weights"]["w"], [10.0, 10.0])
        assert found["weights"]["b"] == 1
        # The sum of 1, 2, 3 and 4, of which each replica has its share.
        assert found["seen"] == [2.5, 2.5]
        assert found["total"] == 10.0
        assert found["rank"] == rank
        assert found["latest"]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["alone", "of_0", "of_1", "shared"]

    three = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])
    for path in ("of_0/ck-1", "of_1/ck-1", "shared", "alone"):
        variables = made(three)
        status = replax.train.Checkpoint(**variables).restore(tmp_path / path)
        np.testing.assert_array_equal(variables["weights"].numpy()["w"], [10.0, 10.0])
        if path != "alone":
            status.assert_existing_objects_matched()
            assert abs(float(variables["seen"].numpy()) - 10.0) < 1e-5
