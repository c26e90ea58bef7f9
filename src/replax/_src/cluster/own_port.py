"""Whether process 0 can listen where the others look for it."""

from __future__ import annotations

import socket

__all__ = ["require_free"]


def require_free(port: int) -> None:
    """Tries a port for a moment.

    The service that is to listen there says little when it cannot, and was seen to end
    the process instead.

    Raises:
      OSError: Another program has it.
    """
    with_both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if with_both else socket.AF_INET
    with socket.socket(family) as tried:
        if with_both:
            tried.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        if hasattr(socket, "SO_REUSEPORT"):
            # As the service does: what keeps a port for it shares it.
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        tried.bind(("", port))
