"""A server for one page and its feed, for browsers of this machine only."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from penstock.errors import ConfigurationError
from penstock.viewer.feed import EVERY

HOST = "127.0.0.1"
FEED: dict[str, Any] = {"feed": "feed", "every": EVERY}  # the address of the feed, for the page


class PageServer:
    """Serves a page at a secret address, and its feed, in its own threads, until it is closed; port 0 is any free one.

    Other machines cannot reach it; pages of other sites are refused, even if a name of theirs resolves to this machine,
    and other users of this machine do not know the address.
    """

    def __init__(self, html: Callable[[], str], feed: Callable[[], Any], port: int = 0) -> None:
        self._path = f"/{secrets.token_urlsafe(12)}/"
        try:
            self._server = ThreadingHTTPServer((HOST, port), partial(_Handler, self._path, html, feed))
        except OSError as error:
            raise ConfigurationError(
                f"Port {port} of {HOST} cannot be taken for the page: {error}. Give another one, or 0 for any."
            ) from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True, name="penstock-page")
        self._thread.start()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self._server.server_address[1]}{self._path}"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> PageServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Handler(BaseHTTPRequestHandler):
    """Two answers: the page, and its numbers."""

    def __init__(self, path: str, html: Callable[[], str], feed: Callable[[], Any], *args: Any) -> None:
        self._page_path, self._html, self._feed = path, html, feed
        super().__init__(*args)

    def do_GET(self) -> None:
        """Answer a request."""
        if self.headers.get("Host", "").rpartition(":")[0] not in (HOST, "localhost"):
            self.send_error(HTTPStatus.FORBIDDEN)
        elif self.path == self._page_path:
            self._answer("text/html; charset=utf-8", self._html())
        elif self.path == f"{self._page_path}{FEED['feed']}":
            self._answer("application/json", json.dumps(self._feed()))
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _answer(self, kind: str, text: str) -> None:
        body = text.encode("utf-8")
        self.send_response(HTTPStatus.OK)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: standard error is the program's."""
