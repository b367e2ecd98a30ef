"""The server of pages of running jobs: who gets what, and who gets nothing."""

from __future__ import annotations

import http.client
import json
import socket
from urllib.parse import urlsplit

import pytest

from penstock.errors import ConfigurationError
from penstock.viewer.server import PageServer


def asked(url: str, path: str | None = None, host: str | None = None) -> http.client.HTTPResponse:
    place = urlsplit(url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
    connection.request("GET", place.path if path is None else path, headers={} if host is None else {"Host": host})
    return connection.getresponse()


def test_a_page_and_its_feed() -> None:
    answers = iter(({"status": "RUNNING"}, None))
    with PageServer(lambda: "<p>page</p>", lambda: next(answers)) as server:
        page = asked(server.url)
        assert (page.status, page.read()) == (200, b"<p>page</p>")
        assert (page.headers["X-Frame-Options"], page.headers["Cache-Control"]) == ("DENY", "no-store")
        assert json.loads(asked(f"{server.url}feed").read()) == {"status": "RUNNING"}
        assert json.loads(asked(f"{server.url}feed").read()) is None
    with pytest.raises(ConnectionError):
        asked(server.url)


def test_strangers_get_nothing() -> None:
    with PageServer(lambda: "page", dict) as server:
        port = urlsplit(server.url).port
        assert asked(server.url, host=f"evil.example:{port}").status == 403
        assert asked(server.url, host=f"localhost:{port}").status == 200
        for path in ("/", "/feed", "/../", f"{urlsplit(server.url).path}other"):
            assert asked(server.url, path).status == 404
        with pytest.raises(OSError, match=r"."), socket.create_connection(("127.0.0.2", port), timeout=1):
            pass


def test_a_port_that_is_taken_is_said() -> None:
    with (
        PageServer(lambda: "", dict) as server,
        pytest.raises(ConfigurationError, match=str(server.url.split(":")[2][:4])),
    ):
        PageServer(lambda: "", dict, port=urlsplit(server.url).port or 0)
