"""Which cluster this process is part of, from its environment variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from replax._src.cluster import detectors
from replax._src.cluster.resolver import ClusterResolver
from replax._src.cluster.verdict import Verdict

__all__ = ["Detected", "detect"]

# In the order in which they are asked: what is said on purpose comes before what every
# process of a cluster has, and the innermost launcher before those around it.
_DETECTORS: dict[str, Callable[[Mapping[str, str]], Verdict]] = {
    "TF_CONFIG": detectors.look_for_tf_config,
    "torchrun": detectors.look_for_torchrun,
    "Slurm": detectors.look_for_slurm,
    "Open MPI": detectors.look_for_open_mpi,
    "Kubernetes": detectors.look_for_kubernetes,
    "TPU pod": detectors.look_for_tpu_pod,
}


@dataclasses.dataclass(frozen=True)
class Detected:
    """What the environment says about the cluster.

    Attributes:
      resolver: The cluster; None if there is none.
      how: The detector that found it, such as ``"TF_CONFIG"``; None if none did.
      why: What it went by.
      variables: The variables of its kind that are set, with their values.
      declined: The other detectors, in their order, each with why it found nothing.
    """

    resolver: ClusterResolver | None
    how: str | None
    why: str
    variables: Mapping[str, str]
    declined: tuple[Verdict, ...]


def detect(environ: Mapping[str, str]) -> Detected:
    """Finds the cluster that a process's environment describes.

    The first detector that finds one decides: TF_CONFIG, torchrun, Slurm, Open MPI,
    Kubernetes, TPU pod. A detector that lacks some of its variables declines. Nothing
    is asked over a network: where a cluster has to be asked, its resolver does so when
    the group is needed, by the variables of the process itself.

    Args:
      environ: The environment variables.

    Raises:
      ValueError: A variable is there and cannot be right.
    """
    found: Verdict | None = None
    declined: list[Verdict] = []
    for name, look in _DETECTORS.items():
        if found is not None:
            declined.append(Verdict(name, f"{found.name} was found before"))
            continue
        verdict = look(environ)
        if verdict.resolver is None:
            declined.append(verdict)
        else:
            found = verdict
    if found is None:
        why = "the environment describes no cluster"
        return Detected(None, None, why, {}, tuple(declined))
    return Detected(
        found.resolver, found.name, found.why, found.variables, tuple(declined)
    )
