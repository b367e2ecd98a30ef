"""Clients that outlive a step: a worker process keeps its consumers and producers for the steps that follow, each used
by one reader or writer at a time.

Making one costs milliseconds to half a second (a connection, a login, an id of a producer), and one that stays where it
is has the next records already.
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
    """What a pool keeps."""

    def close(self) -> None:
        """End it."""
        ...


C = TypeVar("C", bound=Client)

_lost: list[object] = []
"""What a forked process has inherited: its threads are the parent's, so it is neither used nor ended."""


class Pool(Generic[C]):
    """Clients that wait for their next use; whoever takes one has it alone. Safe in threads. O(clients) a call.

    Args:
        most: of them wait at a time; the one that has waited longest is closed for another.
        seconds: after these one that nobody has taken is closed.
    """

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
        """A client, out of the pool; None if none fits.

        Args:
            fits: whether one will do, the most wanted kind first. Of several the last that was put here is taken.
        """
        with self._lock:
            for fit in fits:
                for index in range(len(self._waiting) - 1, -1, -1):
                    if fit(self._waiting[index][1]):
                        return self._waiting.pop(index)[1]
        return None

    def put(self, client: C) -> None:
        """Keep a client for its next use."""
        with self._lock:
            self._waiting.append((time.monotonic(), client))
            surplus = self._waiting.pop(0)[1] if len(self._waiting) > self._most else None
            self._watch()
        if surplus is not None:
            close(surplus)

    def clear(self) -> None:
        """Close all."""
        self._close(float("inf"))

    def _watch(self) -> None:
        if self._reaper is None and self._waiting:
            self._reaper = threading.Timer(self._seconds, self._reap)
            self._reaper.daemon = True
            self._reaper.start()

    def _reap(self) -> None:
        self._close(time.monotonic() - self._seconds)

    def _close(self, before: float) -> None:
        """Close those that wait since then, or longer."""
        with self._lock:
            old = [client for since, client in self._waiting if since <= before]
            self._waiting = [each for each in self._waiting if each[0] > before]
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
    """End a client, whatever state it is in."""
    with contextlib.suppress(Exception):
        client.close()
