"""``replax doctor``: what of the cluster and the devices works, and what does not."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import socket
import time
from collections.abc import Iterator
from typing import Any

import click

from replax._src.cli import measuring
from replax._src.cluster.addresses import host_of, port_of
from replax._src.cluster.detect import Detected, detect
from replax._src.cluster.group import Group

__all__ = ["doctor"]

# A variable may hold a whole cluster.
_LONGEST = 160


@click.command()
@click.option(
    "--timeout",
    default=30.0,
    show_default=True,
    type=click.FloatRange(min=1),
    help="How many seconds to wait for the other processes.",
)
def doctor(timeout: float) -> None:
    """Say what is detected here and why, and whether it works.

    Run it in place of the program, on every process of the cluster at the same time.
    The exit code is 1 if something is broken.
    """
    for line in _examined(timeout):
        click.echo(line)


def _examined(timeout: float) -> Iterator[str]:
    yield _line("versions", _versions())
    found = _detected()
    yield from _about(found)
    group = _group(found)
    if group.is_local:
        yield _line("role", _role(group))
    else:
        address = group.coordinator_address or ""
        role = f"{_role(group)}, process {group.process_id} of {group.num_processes}"
        yield _line("role", role)
        if group.process_id == 0:
            yield _line("coordinator", f"this process, at {address}")
        else:
            yield _line("coordinator", _reached(address, timeout))
    yield from _measured(timeout, group)
    yield "all is well"


def _line(name: str, text: str) -> str:
    return f"{name and name + ':':<13}{text}"


def _broken(what: str) -> click.ClickException:
    return click.ClickException(what)


def _versions() -> str:
    names = ("replax", "jax", "jaxlib", "numpy")
    versions = [f"{name} {importlib.metadata.version(name)}" for name in names]
    system = f"{platform.system()} {platform.machine()}"
    return ", ".join([*versions, f"Python {platform.python_version()}", system])


# --- the cluster --------------------------------------------------------------------


def _detected() -> Detected:
    try:
        return detect(os.environ)
    except ValueError as error:
        raise _broken(f"the environment describes a cluster wrongly: {error}") from None


def _about(found: Detected) -> Iterator[str]:
    how = "none" if found.how is None else f"by {found.how}"
    yield _line("cluster", f"{how}: {found.why}")
    for name, text in found.variables.items():
        short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        yield _line("", f"{name}={short}")
    for verdict in found.declined:
        # Those after the one that was found have not been asked.
        if verdict.why != f"{found.how} was found before":
            yield _line("", f"not {verdict.name}: {verdict.why}")


def _group(found: Detected) -> Group:
    if found.resolver is None:
        return Group.by_itself()
    try:
        return Group.of_resolver(found.resolver)
    except (ImportError, OSError, ValueError) as error:
        raise _broken(f"the cluster cannot be used: {error}") from None


def _role(group: Group) -> str:
    if group.task_type is None:
        return "alone"
    task = f"{group.task_type} {group.task_id}"
    return f"{task}, trains by itself" if group.is_local else task


def _reached(address: str, timeout: float) -> str:
    """Looks whether somebody listens at an address.

    JAX ends a process that finds nobody there, and does not say why.
    """
    host, port = host_of(address) or "", port_of(address) or 0
    began = time.monotonic()
    while True:
        left = began + timeout - time.monotonic()
        try:
            socket.create_connection((host, port), max(left, 0.1)).close()
        except OSError as error:
            if left > 0.1:
                time.sleep(0.1)
                continue
            raise _broken(_unreachable(address, timeout, error)) from None
        return f"{address}, reached after {time.monotonic() - began:.1f} s"


def _unreachable(address: str, timeout: float, error: OSError) -> str:
    what = f"process 0 cannot be reached at {address} within {timeout:g} s ({error}); "
    if isinstance(error, socket.gaierror):
        return f"{what}the name is not known here: write a name or IP address that is"
    if isinstance(error, ConnectionRefusedError):
        return (
            f"{what}the machine is there, but nobody listens: run replax doctor on "
            f"process 0 at the same time, and look whether it is to have this port"
        )
    return (
        f"{what}nothing answers: look whether the address is right, and whether a "
        f"firewall or another network is between the machines"
    )


# --- the devices --------------------------------------------------------------------


def _measured(timeout: float, group: Group) -> Iterator[str]:
    """Measures in another process, since JAX ends one in which something fails."""
    try:
        found = measuring.in_another_process(timeout)
    except measuring.FailureError as failure:
        raise _broken(_failure(str(failure), timeout, group)) from None
    for rank, report in enumerate(found["reports"]):
        name = "devices" if group.is_local else f"process {rank}"
        yield _line(name, _report(report))
    _require_same_versions(found["reports"])
    yield _line("all-reduce", ", ".join(map(_timing, found["timings"])))
    wrong = [timing["bytes"] for timing in found["timings"] if not timing["right"]]
    if wrong:
        raise _broken(
            f"the sum of {wrong[0]} bytes over all devices is wrong; look for errors "
            f"of the devices or of the network in the logs of the system"
        )


def _failure(said: str, timeout: float, group: Group) -> str:
    if "RegisterTask" in said and not group.is_local:
        others = ", ".join(a for a in group.addresses if a != group.coordinator_address)
        return (
            f"not all {group.num_processes} processes have come within {timeout:g} s"
            f"{f' ({others})' if others else ''}; run replax doctor on all of them at "
            f"the same time: those that cannot reach process 0 say so"
        )
    return f"the devices cannot be used:\n{said.strip()}"


def _report(report: dict[str, Any]) -> str:
    return f"{report['devices']} on {report['host']}"


def _require_same_versions(reports: list[dict[str, Any]]) -> None:
    differing = {report["versions"] for report in reports}
    if len(differing) > 1:
        each = "; ".join(
            f"process {i} has {r['versions']}" for i, r in enumerate(reports)
        )
        raise _broken(
            f"the processes have different versions, and may compile different "
            f"programs ({each}); install the same everywhere"
        )


def _timing(timing: dict[str, Any]) -> str:
    size, seconds = timing["bytes"], timing["seconds"]
    unit = next(u for u in (1 << 20, 1 << 10, 1) if size >= u)
    name = {1 << 20: "MiB", 1 << 10: "KiB", 1: "B"}[unit]
    return f"{size // unit} {name} in {seconds * 1e3:.3g} ms"
