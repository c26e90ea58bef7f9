"""Which cluster this process is part of, from its environment variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from replax._src.cluster.resolver import ClusterResolver
from replax._src.cluster.tf_config import TFConfigClusterResolver
from replax._src.cluster.torchrun import look_for_torchrun
from replax._src.cluster.verdict import Verdict

__all__ = ["Detected", "detect"]


@dataclasses.dataclass(frozen=True)
class Detected:
    """What the environment says about the cluster.

    Attributes:
      resolver: The cluster; None if there is none.
      how: The detector that found it, such as ``"TF_CONFIG"``; None if none did.
      why: What it went by, as a sentence.
      variables: The variables that it read, with their values.
      declined: The other detectors, in their order, each with why it found nothing.
    """

    resolver: ClusterResolver | None
    how: str | None
    why: str
    variables: Mapping[str, str]
    declined: tuple[Verdict, ...]


def detect(environ: Mapping[str, str]) -> Detected:
    """Finds the cluster that a process's environment describes.

    The first detector that finds one decides: TF_CONFIG, torchrun.

    Args:
      environ: The environment variables; nothing else is looked at.

    Raises:
      InvalidArgumentError: A variable is there and cannot be right.
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


def _look_for_tf_config(environ: Mapping[str, str]) -> Verdict:
    name = "TF_CONFIG"
    if name not in environ:
        return Verdict(name, "TF_CONFIG is not set")
    seen = {name: environ[name]}
    resolver = TFConfigClusterResolver(environ=environ)
    if not resolver.cluster_spec():
        return Verdict(name, "TF_CONFIG names no cluster", seen)
    resolver.process_group()
    return Verdict(name, "TF_CONFIG describes the cluster", seen, resolver)


# In the order in which they are asked.
_DETECTORS: dict[str, Callable[[Mapping[str, str]], Verdict]] = {
    "TF_CONFIG": _look_for_tf_config,
    "torchrun": look_for_torchrun,
}
