"""Lines from a socket, for demonstrations. The driver reads the socket, and the lines travel in the splits.

Lines in the driver's memory are lost with it; a step that fails is repeated with the same lines. Source of the
semantics: ``SocketTextStreamFunction`` (Flink 1.11)."""

from __future__ import annotations

import codecs
import contextlib
import socket
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from penstock.common.typeinfo import TypeInformation, Types
from penstock.errors import ConfigurationError
from penstock.runtime.io.splits import Records, Source, Split

MOST_TEXTS = 100_000
MOST_LETTERS = 64 << 20  # limit of what the driver buffers; above it the sender waits. A single line may be longer.
RETRY_SECONDS = 0.5
_CONNECT_SECONDS = 20
_ID = "socket"


@dataclass(frozen=True)
class SocketSplit(Split):
    """Some of the lines, from its start to its end."""

    texts: tuple[str, ...] = ()


class SocketSource(Source[str]):
    """Texts between delimiters, in one subtask; positions count them. For lines, a carriage return before the delimiter
    is dropped. ``max_retry`` is how often it connects in all: −1 for ever, 0 or 1 for once."""

    bounded = False
    produced_type: TypeInformation[object] | None = Types.STRING()

    def __init__(self, host: str, port: int, delimiter: str = "\n", max_retry: int = 0) -> None:
        self.host, self.port, self.delimiter, self.max_retry = host, port, delimiter, max_retry
        self._feed: _Feed | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return SocketSource, (self.host, self.port, self.delimiter, self.max_retry)

    def __repr__(self) -> str:
        return f"<SocketSource of {self.host}:{self.port}>"

    def splits(self, parallelism: int) -> Sequence[Split]:
        return self.pending(parallelism, {})

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> Sequence[Split]:
        start: int = positions.get(_ID, 0)
        if self._feed is None or start < self._feed.first:  # the feed is another job's
            self.close()
            self._feed = _Feed(self, start)
            weakref.finalize(self, self._feed.close)
        texts = self._feed.behind(start)
        return [SocketSplit(_ID, start, start + len(texts), len(texts), texts=texts)] if texts else []

    def ended(self) -> bool:
        return self._feed is not None and self._feed.ended

    def limited(self, split: Split, records: int) -> Split:
        if not isinstance(split, SocketSplit) or len(split.texts) <= records:
            return split
        return replace(split, end=split.start + records, texts=split.texts[:records])

    def read(self, split: Split) -> Iterator[Records[str]]:
        assert isinstance(split, SocketSplit)
        yield Records(split.texts, split.end)

    def close(self) -> None:
        if self._feed is not None:
            self._feed.close()
            self._feed = None


class _Feed:
    def __init__(self, source: SocketSource, first: int) -> None:
        self.first = first
        self.ended = False
        self._place = source.host, source.port
        self._delimiter, self._left = source.delimiter, max(source.max_retry, 1) if source.max_retry >= 0 else -1
        self._texts: list[str] = []
        self._letters = 0
        self._over = False
        self._error: Exception | None = None
        self._room = threading.Condition()
        self._socket = _connected(self._place)
        threading.Thread(target=self._run, name=f"socket {source.host}:{source.port}", daemon=True).start()

    def behind(self, position: int) -> tuple[str, ...]:
        """The lines from a position on; earlier ones are dropped."""
        with self._room:
            if self._error is not None:
                raise self._error
            gone = position - self.first
            self._letters -= sum(map(len, self._texts[:gone]))
            del self._texts[:gone]
            self.first = position
            self.ended = self._over
            self._room.notify()
            return tuple(self._texts)

    def close(self) -> None:
        with self._room:
            self._over = True
            self._room.notify()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _run(self) -> None:
        rest = ""
        try:
            while not self._over:
                rest = self._read(rest)
                self._left -= 1
                if self._left == 0:
                    break
                time.sleep(RETRY_SECONDS)
                self._socket = _connected(self._place)
        except Exception as error:
            self._error = None if self._over else error
        self._add([rest] if rest else [])
        self._over = True

    def _read(self, rest: str) -> str:
        """Read until the other side closes. Returns the text after the last delimiter."""
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        while not self._over:
            try:
                data = self._socket.recv(1 << 16)
            except ConnectionError:
                data = b""
            *texts, rest = (rest + decode(data, not data)).split(self._delimiter)
            self._add([text.removesuffix("\r") for text in texts] if self._delimiter == "\n" else texts)
            if not data:
                break
        return rest

    def _add(self, texts: list[str]) -> None:
        with self._room:
            self._texts += texts
            self._letters += sum(map(len, texts))
            while not self._over and (len(self._texts) >= MOST_TEXTS or self._letters >= MOST_LETTERS):
                self._room.wait()


def _connected(place: tuple[str, int]) -> socket.socket:
    try:
        connection = socket.create_connection(place, _CONNECT_SECONDS)
    except OSError as error:
        raise ConfigurationError(
            f"No server listens on {place[0]}:{place[1]}: {error}. Start the sender before the job, such as "
            f"`nc -lk {place[1]}`, or correct host and port.",
            flink_class="java.net.ConnectException",
        ) from error
    connection.settimeout(None)
    return connection
