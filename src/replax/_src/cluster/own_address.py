"""The address at which the other processes of a group find this one."""

from __future__ import annotations

import socket

from replax._src.cluster.addresses import host_of, is_loopback, port_of
from replax._src.cluster.group import Group

__all__ = ["own_address"]


def own_address(group: Group) -> str | None:
    """The IP address from which this machine reaches the others of its group.

    A machine may have several, and its own name often stands for one that means
    another machine everywhere else, such as 127.0.1.1.

    Returns:
      None if that is not known.
    """
    coordinator = group.coordinator_address or ""
    others = [a for a in group.addresses if host_of(a) != host_of(coordinator)]
    if group.process_id == 0 and others:
        return _address_towards(others[0])
    found = _address_towards(coordinator)
    if group.process_id == 0 and found is not None and is_loopback(found):
        # It may mean this machine here only, and where the others are is not known.
        return found if is_loopback(host_of(coordinator) or "") else None
    return found


def _address_towards(address: str) -> str | None:
    host, port = host_of(address), port_of(address)
    try:
        ways = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
        family, kind, protocol, _, place = ways[0]
        with socket.socket(family, kind, protocol) as one:
            # It only chooses the way; nothing is sent.
            one.connect(place)
            return one.getsockname()[0]
    except OSError:
        return None
