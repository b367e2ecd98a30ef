"""Kafka clients that outlive a step: a worker process keeps consumers and producers, each used by one reader or writer
at a time.

A new client costs milliseconds to half a second (connection, login, producer id), and one that stays has prefetched the
next records.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Client(Protocol):
    """A client that a pool can keep."""

    def close(self) -> None: ...


C = TypeVar("C", bound=Client)

_lost: list[object] = []
"""Clients inherited by a forked process. Their threads are the parent's, so they are neither used nor closed."""


class Pool(Generic[C]):
    """Idle clients. Whoever takes one has it exclusively. Thread-safe. O(clients) per call."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        self._waiting: list[tuple[float, C]] = []
        self._lock = threading.Lock()
        self._reaper: threading.Timer | None = None
        atexit.register(self.clear)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, *fits: Callable[[C], bool]) -> C | None:
        """Remove and return a client that fits, or None."""
        with self._lock:
            for fit in fits:
                for index in range(len(self._waiting) - 1, -1, -1):
                    if fit(self._waiting[index][1]):
                        return self._waiting.pop(index)[1]
        return None

    def put(self, client: C) -> None:
        """Keep a client for later."""
        with self._lock:
            self._waiting.append((time.monotonic(), client))
            surplus = self._waiting.pop(0)[1] if len(self._waiting) > self._most else None
            self._watch()
        if surplus is not None:
            close(surplus)

    def clear(self) -> None:
        """Close all clients."""
        self._close(float("inf"))

    def _watch(self) -> None:
        if self._reaper is None and self._waiting:
            self._reaper = threading.Timer(self._seconds, self._reap)
            self._reaper.daemon = True
            self._reaper.start()

    def _reap(self) -> None:
        self._close(time.monotonic() - self._seconds)

    def _close(self, before: float) -> None:
        """Close the clients that have been idle since then."""
        with self._lock:
            old = [client for since, client in self._waiting if since <= before]
            self._waiting = [entry for entry in self._waiting if entry[0] > before]
            if self._reaper is not None:
                self._reaper.cancel()
                self._reaper = None
            self._watch()
        for client in old:
            close(client)

    def _forget(self) -> None:
        _lost.extend(client for _, client in self._waiting)
        self._waiting, self._lock, self._reaper = [], threading.Lock(), None


def close(client: Client) -> None:
    """Close a client and ignore errors."""
    with contextlib.suppress(Exception):
        client.close()
