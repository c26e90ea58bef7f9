"""Addresses: a host and a port."""

from __future__ import annotations

import ipaddress
import re

__all__ = ["PORT", "bracketed", "host_of", "is_loopback", "port_of"]

# JAX's variable for the port of its coordination service.
PORT = "JAX_COORDINATOR_PORT"

# A host is a name, an IPv4 address, or an IPv6 address in brackets.
_ADDRESS = re.compile(r"^(?P<host>\[[0-9A-Fa-f:.%\w]+\]|[^\s:\[\]/]+):(?P<port>\d+)$")


def host_of(address: str) -> str | None:
    """The host of ``host:port``; None if it is not such an address."""
    match = _ADDRESS.match(address)
    return match["host"].strip("[]") if match else None


def port_of(address: str) -> int | None:
    """The port of ``host:port``; None if it is not such an address."""
    match = _ADDRESS.match(address)
    return int(match["port"]) if match else None


def bracketed(host: str, variable: str) -> str:
    """A host as it stands before a port: IPv6 addresses need brackets.

    Args:
      host: The host.
      variable: Where it was read, for errors.
    """
    if not host or any(c in host for c in " \t/[]"):
        msg = (
            f"{variable} is {host!r}, and has to be the name or the IP address of the "
            f"machine of process 0"
        )
        raise ValueError(msg)
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    """Whether a host name means the machine that uses it, whichever that is."""
    if host.lower().rstrip(".") in {"localhost", "ip6-localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
