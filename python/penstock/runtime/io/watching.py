"""Folders that are looked at again and again, for sources of files without an end.

Splits of such sources are named ``path:place/version``: the place of the piece in its file, and what tells the file
that was seen from a later one of its name. A split that has been read is over for good, so all that has to be
remembered is the ids of those; the rest of what is here is a cache of the driver, which a copy does without.

Source of the semantics: ``ContinuousFileSplitEnumerator`` (Flink 1.20), ``ContinuousFileMonitoringFunction`` (1.11).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from penstock.runtime.io.finding import found_files
from penstock.runtime.io.splits import Split
from penstock.runtime.io.storage import Dated

MOST_FILES = 256
MOST_BYTES = 128 << 20
"""What a subtask is given in a step at the most: a step takes what it can of it."""
now = time.monotonic

Cut = Callable[[Dated], list[Split]]


def named(file: Dated, version: int, pieces: list[Split]) -> list[Split]:
    """The pieces of a file as splits of a source without an end.

    Args:
        file: its path and size.
        version: what tells it from others of its name.
        pieces: as its format cuts it.
    """
    return [
        replace(piece, id=f"{file.path}:{'' if piece.end is None else piece.start}/{version}", finite=True)
        for piece in pieces
    ]


def piece_of(split: Split) -> Split:
    """The piece as the format knows it: the reverse of :func:`named`."""
    path, _, place = split.id.rpartition(":")
    return replace(split, id=path if split.end is None else f"{path}:{place.partition('/')[0]}")


@dataclass(frozen=True)
class Limits:
    """What :meth:`Watch.pending` may give.

    Attributes:
        files: splits at the most.
        weight: together, at the most, or one split.
    """

    files: int
    weight: int


ALL = Limits(1 << 62, 1 << 62)


class Watch:
    """The files under some paths, looked for no more often than an interval. On the driver.

    Args:
        paths: of files, folders, patterns.
        interval: between two looks, in seconds.
        deep: whether folders below are entered.
        again: whether a file is read again, whole, when it has been modified; else a path is read once.
    """

    def __init__(self, paths: tuple[str, ...], interval: float, *, deep: bool = True, again: bool = False) -> None:
        self.paths = paths
        self.interval = interval
        self.deep = deep
        self.again = again
        self._reset()

    def __reduce__(self) -> tuple[Any, ...]:
        return _copy, (self.paths, self.interval, self.deep, self.again)

    def _reset(self) -> None:
        self._looked: float | None = None
        self._seen: dict[str, int] = {}  # the version of each path that has been cut into splits
        self._waiting: dict[str, Split] = {}
        self._read = 0

    def pending(self, cut: Cut, positions: Mapping[str, Any], over: Set[str], limits: Limits) -> list[Split]:
        """Splits that have not been read to their end, each from where it has been left. O(files) if it looks, else
        O(splits that it gives and that are over since).

        Args:
            cut: the splits of a file that has been found, by :func:`named`.
            positions: where splits have been left, by id.
            over: ids of splits that have been read.
            limits: how many.

        Raises:
            ConfigurationError: a path stands for nothing, or cannot be reached.
        """
        if len(over) < self._read:  # it is another job's
            self._reset()
        self._read = len(over)
        if self._looked is None and not self.again:
            self._seen = dict(map(_path_and_version, chain(over, positions)))
        if self._looked is None or now() - self._looked >= self.interval:
            self._look(cut, positions, over, begun=self._looked is not None)
        return list(self._chosen(positions, over, limits))

    def _look(self, cut: Cut, positions: Mapping[str, Any], over: Set[str], *, begun: bool) -> None:
        self._looked = now()
        waiting = {name.rpartition(":")[0] for name in self._waiting}
        read = None if self.again or not begun else (lambda path: path in self._seen and path not in waiting)
        found = found_files(self.paths, deep=self.deep, later=True, skip=read)
        if self.again:
            found.sort(key=lambda file: (file.modified, file.path))
        there = {file.path for file in found}
        for name in [*self._waiting]:
            path, _, place = name.rpartition(":")
            if path not in there and place.startswith("/") and name not in positions:
                del self._waiting[name], self._seen[path]  # removed before anybody has read of it
        for file in found:
            self._take(cut, file, over, begun)

    def _take(self, cut: Cut, file: Dated, over: Set[str], begun: bool) -> None:
        known, version = self._seen.get(file.path), file.modified if self.again else file.size
        if known is not None:
            if known == version if self.again else begun:
                return
            if self.again:
                self._waiting.pop(f"{file.path}:/{known}", None)
            else:
                version, file = known, file._replace(size=known)  # as it was cut before a restart
        self._seen[file.path] = version
        self._waiting.update((split.id, split) for split in cut(file) if split.id not in over)

    def _chosen(self, positions: Mapping[str, Any], over: Set[str], limits: Limits) -> Iterator[Split]:
        done: list[str] = []
        weight = files = 0
        for name, split in self._waiting.items():
            if name in over:
                done.append(name)
                continue
            if files >= limits.files or (files and weight + split.weight > limits.weight):
                break
            files += 1
            weight += split.weight
            yield replace(split, start=positions[name]) if name in positions else split
        for name in done:
            del self._waiting[name]


def _path_and_version(name: str) -> tuple[str, int]:
    path, _, place = name.rpartition(":")
    return path, int(place.partition("/")[2])


def _copy(paths: tuple[str, ...], interval: float, deep: bool, again: bool) -> Watch:
    return Watch(paths, interval, deep=deep, again=again)
