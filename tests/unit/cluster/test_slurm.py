"""Slurm steps become clusters; tasks take their part of the GPUs."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from replax._src.cluster.slurm_step import SlurmStep
from replax.distribute.cluster_resolver import SlurmClusterResolver

STEP = {
    "SLURM_PROCID": "3",
    "SLURM_STEP_NUM_TASKS": "5",
    "SLURM_STEP_NODELIST": "n[8-9,10]",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
}
IN_SLURMS_ORDER = ("n8:8888", "n8:8889", "n9:8888", "n9:8889", "n10:8888")


def step(**other: str) -> dict[str, str]:
    return {**STEP, **other}


def slurm(environ: dict[str, str] | None = None, **given: Any) -> SlurmClusterResolver:
    return SlurmClusterResolver(**given, environ=step() if environ is None else environ)


def test_all_tasks_are_workers() -> None:
    r = slurm(rpc_layer="grpc")
    assert r.get_task_info() == ("worker", 3)
    assert r.cluster_spec().num_tasks("worker") == 5
    assert r.master("worker", 1) == "grpc://n8:8888"
    assert r.master() == "grpc://" + r.cluster_spec().task_address("worker", 3)


def test_the_group_is_where_slurm_has_put_the_tasks() -> None:
    """The order of names would put n10 first, where task 4 runs and not task 0."""
    r = slurm(step(SLURM_LOCALID="1"))
    assert r.cluster_spec().task_address("worker", 0) == "n10:8888"
    group = r.process_group()
    assert group.addresses == IN_SLURMS_ORDER
    assert group.coordinator_address == "n8:8888"
    assert (group.process_id, group.num_processes) == (3, 5)
    assert group.local_process_id == 1


def test_jobs_have_tasks_in_the_order_of_their_names() -> None:
    r = slurm(jobs={"worker": 3, "ps": 2}, port_base=70)
    assert r.get_task_info() == ("worker", 1)
    group = r.process_group()
    assert group.addresses == ("n9:70", "n9:71", "n10:70")
    assert (group.process_id, group.num_processes) == (1, 3)
    assert slurm(step(SLURM_PROCID="1"), jobs={"worker": 3, "ps": 2}).task_type == "ps"


def test_tasks_that_are_dealt_round_leave_no_first_worker() -> None:
    cyclic = step(SLURM_DISTRIBUTION="cyclic")
    assert slurm(cyclic).process_group().coordinator_address == "n8:8888"
    with pytest.raises(
        ValueError, match=r"SLURM_DISTRIBUTION is 'cyclic', .*srun --dist"
    ):
        slurm(cyclic, jobs={"worker": 3, "ps": 2}).process_group()
    one_each = {**cyclic, "SLURM_STEP_TASKS_PER_NODE": "1(x3)", "SLURM_PROCID": "2"}
    group = slurm(one_each, jobs={"worker": 2, "ps": 1}).process_group()
    assert group.coordinator_address == "n9:8888"


def test_the_number_of_tasks_on_a_node_may_be_given() -> None:
    only = {k: STEP[k] for k in ("SLURM_PROCID", "SLURM_STEP_NODELIST")}
    r = slurm(only, jobs={"worker": 6}, tasks_per_node=2)
    assert r.process_group().addresses == (*IN_SLURMS_ORDER, "n10:8889")
    counts = {"n10": 1, "n9": 2, "n8": 2}
    r = slurm(only, jobs={"worker": 5}, tasks_per_node=counts)
    assert r.process_group().addresses == IN_SLURMS_ORDER
    r = slurm(
        {"SLURM_PROCID": "0"}, jobs={"worker": 3}, tasks_per_node={"y": 1, "x": 2}
    )
    assert r.process_group().addresses == ("x:8888", "x:8889", "y:8888")


@pytest.mark.parametrize("variable", STEP)
def test_a_missing_variable_is_named(variable: str) -> None:
    environ = {k: v for k, v in STEP.items() if k != variable}
    with pytest.raises(
        RuntimeError, match=f"{variable} is not set, .*start it with srun"
    ):
        slurm(environ)


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("SLURM_PROCID", "first", "is 'first', and has to be a number"),
        ("SLURM_STEP_NUM_TASKS", "-1", "is '-1', and has to be a number"),
        ("SLURM_STEP_NODELIST", "n[1", r"is 'n\[1', and has to be a list of hosts"),
        ("SLURM_STEP_TASKS_PER_NODE", "2x", "is '2x', and has to be counts"),
        ("SLURM_STEP_TASKS_PER_NODE", "5", "is '5', for 1 nodes, and SLURM_STEP_NODE"),
        ("SLURM_PROCID", "5", "is 5, and the Slurm step has 5 tasks; .* 0 to 4"),
    ],
)
def test_a_variable_that_cannot_be_right_is_named(
    variable: str, value: str, says: str
) -> None:
    with pytest.raises((RuntimeError, ValueError), match=f"{variable} {says}"):
        slurm(step(**{variable: value}))


def test_jobs_have_as_many_tasks_as_the_step() -> None:
    with pytest.raises(RuntimeError, match=r"jobs has 4 tasks .* have 5; .*--ntasks=4"):
        slurm(jobs={"worker": 4})


def gpus_of(*, environ: dict[str, str] | None = None, **given: Any) -> str | None:
    environ = step() if environ is None else environ
    before = environ.get("CUDA_VISIBLE_DEVICES")
    slurm(environ, **given).cluster_spec()
    after = environ.get("CUDA_VISIBLE_DEVICES")
    return None if after == before else after


def test_a_task_takes_its_part_of_the_gpus() -> None:
    assert gpus_of(gpus_per_node=4) == "2,3"
    assert gpus_of(gpus_per_node=4, gpus_per_task=1) == "1"
    assert gpus_of(environ=step(SLURM_PROCID="2"), gpus_per_node=2) == "0"
    assert gpus_of(environ=step(SLURM_LOCALID="0"), gpus_per_node=2) == "0"
    assert gpus_of(environ=step(SLURM_GPUS_ON_NODE="2")) == "1"
    assert gpus_of(environ=step(CUDA_VISIBLE_DEVICES="4,6")) == "6"
    assert gpus_of(gpus_per_node=4, auto_set_gpu=False) is None
    assert gpus_of(gpus_per_node=0) is None


def test_a_part_of_the_gpus_is_taken_once() -> None:
    environ = step(CUDA_VISIBLE_DEVICES="4,5,6,7")
    r = slurm(environ)
    r.cluster_spec()
    r.cluster_spec()
    assert environ["CUDA_VISIBLE_DEVICES"] == "6,7"
    assert r.num_accelerators() == {"GPU": 2}


def test_a_node_has_enough_gpus() -> None:
    with pytest.raises(RuntimeError, match=r"need 4, and a node has 2; .*per_task=1"):
        slurm(gpus_per_node=2, gpus_per_task=2)


def test_gpus_are_counted_by_nvidias_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert slurm().num_accelerators() == {"GPU": 0}
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'GPU 0: A'\necho 'GPU 1: B'\n")
    program.chmod(stat.S_IRWXU)
    assert slurm().num_accelerators() == {"GPU": 1}
    program.write_text("#!/bin/sh\nexit 9\n")
    assert slurm().num_accelerators() == {"GPU": 0}


@pytest.mark.parametrize(
    ("tasks", "rank", "distribution", "here"),
    [
        ("4(x2)", "5", "cyclic", 4),
        ("3,1", "2", "block", 3),
        ("3,1", "3", "block", 1),
        ("3,1", "2", "cyclic", None),
    ],
)
def test_how_many_tasks_share_a_node(
    tasks: str, rank: str, distribution: str, here: int | None
) -> None:
    environ = {
        "SLURM_PROCID": rank,
        "SLURM_STEP_NODELIST": "n[1-2]",
        "SLURM_STEP_TASKS_PER_NODE": tasks,
        "SLURM_DISTRIBUTION": distribution,
    }
    assert SlurmStep.of_environ(environ).tasks_here == here
