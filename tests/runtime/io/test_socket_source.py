"""The source of texts from a socket."""

from __future__ import annotations

import contextlib
import gc
import pickle
import socket
import time

import pytest

from penstock.connectors import socket_source
from penstock.connectors.socket_source import SocketSource
from penstock.errors import ConfigurationError


class Sender:
    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(60)
        self.port = self.listener.getsockname()[1]
        self.line = None

    def accept(self):
        self.line = self.listener.accept()[0]
        return self

    def send(self, text):
        self.line.sendall(text.encode() if isinstance(text, str) else text)

    def close(self):
        for end in (self.line, self.listener):
            with contextlib.suppress(Exception):
                end.close()


@pytest.fixture
def sender():
    sender = Sender()
    yield sender
    sender.close()


def source_of(sender, **settings):
    source = SocketSource("127.0.0.1", sender.port, **settings)
    assert source.pending(1, {}) == []
    sender.accept()
    return source


def pending(source, position=0, count=1):
    """The texts behind a position, once there are so many."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for split in source.pending(1, {"socket": position} if position else {}):
            assert (split.id, split.start, split.end - split.start) == ("socket", position, len(split.texts))
            if len(split.texts) >= count:
                (some,) = pickle.loads(pickle.dumps(source)).read(split)
                assert (some.values, some.position) == (split.texts, split.end)
                return list(some.values)
        time.sleep(0.005)
    raise AssertionError("nothing has come")


def ended(source, position):
    until = time.monotonic() + 60
    while not source.ended() and time.monotonic() < until:
        source.pending(1, {"socket": position} if position else {})
        time.sleep(0.005)
    return source.ended()


def test_lines_come_as_they_are_sent_and_the_last_one_without_an_end(sender):
    source = source_of(sender)
    sender.send("a\r\nb\n€"[:-1].encode() + "€".encode()[:2])
    assert pending(source, count=2) == ["a", "b"]
    sender.send("€".encode()[2:] + b" c\n\nlast")
    assert pending(source, 2, count=2) == ["€ c", ""]
    assert not source.ended()
    sender.line.close()
    assert pending(source, 4) == ["last"]
    assert ended(source, 4)
    assert source.pending(1, {"socket": 5}) == []


def test_a_step_that_is_repeated_reads_the_same(sender):
    source = source_of(sender, delimiter="||")
    sender.send("a\r||b||c||")
    assert pending(source, count=3) == ["a\r", "b", "c"]
    assert pending(source, count=3) == ["a\r", "b", "c"]
    (split,) = source.pending(1, {"socket": 1})
    cut = source.limited(split, 1)
    assert (cut.start, cut.end, cut.texts) == (1, 2, ("b",))
    assert source.limited(split, 5) is split
    assert pending(source, 2) == ["c"]


def test_a_driver_that_goes_on_counts_on_and_takes_what_comes_then(sender):
    source = SocketSource("127.0.0.1", sender.port)
    assert source.pending(1, {"socket": 17}) == []
    sender.accept().send("x\n")
    assert pending(source, 17) == ["x"]


def test_it_connects_again_as_often_as_it_was_told(sender, monkeypatch):
    monkeypatch.setattr(socket_source, "RETRY_SECONDS", 0.01)
    source = source_of(sender, max_retry=2)
    sender.send("a\nhal")
    sender.line.close()
    sender.accept().send("f\nb\n")
    assert pending(source, count=3) == ["a", "half", "b"]
    sender.line.close()
    assert ended(source, 3)
    source.close()
    forever = source_of(sender, max_retry=-1)
    for _ in range(3):
        sender.line.close()
        sender.accept()
    assert not forever.ended()
    sender.line.close()
    sender.listener.close()
    with pytest.raises(ConfigurationError, match="No server listens"):
        ended(forever, 0)


def test_where_nobody_listens_there_is_an_error_that_says_what_to_do(sender):
    sender.close()
    with pytest.raises(ConfigurationError, match=f"127.0.0.1:{sender.port}.*nc -lk {sender.port}"):
        SocketSource("127.0.0.1", sender.port).splits(1)


def test_the_sender_waits_if_the_job_is_slow(sender, monkeypatch):
    monkeypatch.setattr(socket_source, "MOST_TEXTS", 10)
    source = source_of(sender)
    sender.line.settimeout(0.3)
    sent = 0
    with contextlib.suppress(TimeoutError):
        while sent < 1 << 28:
            sender.send(b"x" * 999 + b"\n")
            sent += 1_000
    assert sent < 1 << 28
    first = len(pending(source, count=10))
    assert first < sent // 1_000 + 1
    source.pending(1, {"socket": first})
    assert len(pending(source, first, count=10)) >= 10
    source.close()


@pytest.mark.slow
def test_the_socket_is_closed_with_the_job_or_with_the_source(sender):
    source_of(sender).close()
    sender.line.settimeout(60)
    assert sender.line.recv(1) == b""
    source_of(sender)
    gc.collect()
    sender.line.settimeout(60)
    assert sender.line.recv(1) == b""
