"""Addresses: a host and a port."""

from __future__ import annotations

import ipaddress
import re

__all__ = ["host_of", "is_loopback", "port_of"]

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


def is_loopback(host: str) -> bool:
    """Whether a host name means the machine that uses it, whichever that is."""
    if host.lower().rstrip(".") in {"localhost", "ip6-localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
