"""A server on loopback that answers with JSON, in place of a cluster's API."""

from __future__ import annotations

import contextlib
import http.server
import json
import ssl
import threading
from collections.abc import Callable, Generator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

# What a server is made of: from the method, the path and the query to an answer, which
# is text or JSON; None if there is nothing there.
Answer = Callable[[str, str, dict[str, str]], Any]


@contextlib.contextmanager
def serving(
    answer: Answer, certificate: tuple[str, str] | None = None
) -> Generator[str]:
    """Serves on a free port; gives ``host:port``.

    Args:
      answer: What is answered.
      certificate: The files of a certificate and its key, to serve by TLS.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(length)
            found = answer(self.command, asked.path, dict(parse_qsl(asked.query)))
            text = found if isinstance(found, str) else json.dumps(found)
            body = text.encode()
            self.send_response(404 if found is None else 200)
            kind = "text/plain" if isinstance(found, str) else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - how the server calls it

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}
    )
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
