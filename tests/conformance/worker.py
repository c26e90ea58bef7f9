"""Inside a process that runs one worker of one case."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from conformance.case_file import Case, plain

# Variables that would change what a case sees or how much it prints.
ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "-1",
    "GRPC_VERBOSITY": "NONE",
    "JAX_PLATFORMS": "cpu",
    "PYTHONWARNINGS": "ignore",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}
UNSET = ("JAX_ENABLE_X64", "JAX_NUM_CPU_DEVICES", "TF_CONFIG", "XLA_FLAGS")


@dataclasses.dataclass(frozen=True)
class Answers:
    """Where the workers of one case put their answers, by rank."""

    folder: Path
    workers: int

    def path(self, rank: int) -> Path:
        """Where the worker of that rank puts its answer."""
        return self.folder / f"answer{rank}.json"

    def log_path(self, rank: int) -> Path:
        """What the worker of that rank printed."""
        return self.folder / f"log{rank}"

    def complete(self) -> bool:
        """Whether every worker has answered."""
        return all(self.path(rank).exists() for rank in range(self.workers))

    def write(self, rank: int, answer: dict[str, Any]) -> None:
        """Publishes a worker's answer, whole or not at all."""
        part = self.path(rank).with_suffix(".part")
        part.write_text(json.dumps(answer))
        part.rename(self.path(rank))


def facade(library: str, api: str) -> Any:
    """The library under TensorFlow's names."""
    if library == "tensorflow":
        tensorflow = importlib.import_module("tensorflow")
        return tensorflow.compat.v1 if api == "v1" else tensorflow
    return importlib.import_module(f"{library}.compat.{api}")


def run(library: str, case: Case, rank: int, answers: Answers) -> None:
    """Runs the case in this very process and publishes its answer."""
    try:
        answer = {"value": plain(_call(facade(library, case.api), case))}
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent reports it
        traceback.print_exc()
        answer = {"crash": type(error).__name__}
    sys.stdout.flush()
    sys.stderr.flush()
    answers.write(rank, answer)
    # Nobody leaves before everybody has answered: a worker that goes away early can
    # take its peers along.
    deadline = time.monotonic() + case.timeout
    while time.monotonic() < deadline and not answers.complete():
        time.sleep(0.02)


def _call(tf: Any, case: Case) -> Any:
    cpus = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        cpus[0], [tf.config.LogicalDeviceConfiguration() for _ in range(case.replicas)]
    )
    spec = importlib.util.spec_from_file_location(
        f"case_{case.name.replace('/', '_')}", case.path
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.case(tf)


def prepare_environment(environment: dict[str, str]) -> dict[str, str]:
    """The environment in which cases run, whatever the caller's was."""
    kept = {k: v for k, v in environment.items() if k not in UNSET}
    path = os.pathsep.join(
        [str(Path(__file__).parents[1]), *filter(None, [kept.get("PYTHONPATH")])]
    )
    return {**kept, **ENVIRONMENT, "PYTHONPATH": path}
