"""The variables of torchrun, which other launchers set too."""

from __future__ import annotations

from collections.abc import Mapping

from replax._src.cluster.launched import LaunchedClusterResolver
from replax._src.cluster.verdict import (
    Verdict,
    number_in,
    present,
    sentence_of_missing,
)
from replax._src.core.errors import InvalidArgumentError

__all__ = ["look_for_torchrun"]

_NEEDED = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")
_ALSO = ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_USE_AGENT_STORE")


def look_for_torchrun(environ: Mapping[str, str]) -> Verdict:
    """Looks for the variables that torchrun sets."""
    name = "torchrun"
    seen = present(environ, (*_NEEDED, *_ALSO))
    missing = sentence_of_missing(seen, _NEEDED)
    if missing is not None:
        return Verdict(name, missing, seen)
    size = number_in(seen, "WORLD_SIZE")
    if size == 0:
        msg = "WORLD_SIZE is 0, and counts this process too; it has to be 1 or more"
        raise InvalidArgumentError(msg)
    resolver = LaunchedClusterResolver(
        f"{_host(seen['MASTER_ADDR'])}:{_port(seen)}",
        size,
        number_in(seen, "RANK", below=size),
        local_id=number_in(seen, "LOCAL_RANK") if "LOCAL_RANK" in seen else None,
        workers_here=number_in(seen, "LOCAL_WORLD_SIZE")
        if "LOCAL_WORLD_SIZE" in seen
        else None,
        source="MASTER_ADDR",
    )
    resolver.process_group()
    why = f"RANK {seen['RANK']} of WORLD_SIZE {size}"
    return Verdict(name, why, seen, resolver)


def _host(name: str) -> str:
    """A host as it stands before a port."""
    if not name:
        msg = (
            "MASTER_ADDR is empty; it has to be the machine of the process with RANK 0"
        )
        raise InvalidArgumentError(msg)
    return f"[{name}]" if ":" in name and not name.startswith("[") else name


def _port(seen: Mapping[str, str]) -> int:
    """Where the coordination service listens.

    torchrun's own agent may listen on MASTER_PORT, and says so.
    """
    port = number_in(seen, "MASTER_PORT")
    taken = seen.get("TORCHELASTIC_USE_AGENT_STORE", "").lower() in {"true", "1"}
    if taken:
        port = port + 1 if port < 65535 else port - 1
    if not 0 < port < 65536:
        msg = f"MASTER_PORT is {port}, which is no port; choose one from 1 to 65535"
        raise InvalidArgumentError(msg)
    return port
