"""Folders that unbounded file sources list again and again, and the monitors that emit splits of them: the first of the
two operators of ``read_text_file``, ``read_file`` and ``create_input``.

Splits are named ``path:place/version``: the place of the piece in the file, and what distinguishes this version of the
file from later ones. A finished split is never read again, so only the ids of finished splits are state. A partly read
file must keep its length until it has been read to its end: the driver checks when a job starts, a task when it has
finished a split (:func:`check_length`). Source of the semantics: ``ContinuousFileSplitEnumerator`` (Flink 1.20),
``ContinuousFileMonitoringFunction`` (1.11)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from penstock.errors import FileFormatError, InvalidProgramError
from penstock.runtime.io.file_paths import found_files
from penstock.runtime.io.file_source import SPLIT_BYTES, pieces_of
from penstock.runtime.io.splits import LostSplitsError, Records, Source, Split
from penstock.storage.storage import Dated, is_local
from penstock.storage.stores import storage_of

MOST_FILES = 256
MOST_BYTES = 128 << 20  # most bytes that a subtask is offered in a step
now = time.monotonic

Cut = Callable[[Dated], list[Split]]


def named(file: Dated, version: int, pieces: list[Split]) -> list[Split]:
    """The pieces of a file as splits of an unbounded source."""
    return [
        replace(piece, id=f"{file.path}:{'' if piece.end is None else piece.start}/{version}", finite=True)
        for piece in pieces
    ]


def piece_of(split: Split) -> Split:
    """The piece as the format knows it: the reverse of :func:`named`."""
    path, _, place = split.id.rpartition(":")
    return replace(split, id=path if split.end is None else f"{path}:{place.partition('/')[0]}")


def is_read(split: Split) -> bool:
    """Whether a split is finished although its file, a text that was read to its end, is shorter now."""
    path, seen = _path_and_version(split.id)
    return split.start == seen and (storage_of(path).size(path) or 0) < seen


def length_to_check(split: Split) -> int | None:
    """The length that the file must have when the split has been finished; computed before reading."""
    path, seen = _path_and_version(split.id)
    if split.start is not None:
        return seen
    return min(seen, storage_of(path).size(path) or 0) if is_local(path) else None


def check_length(split: Split, least: int | None) -> None:
    """Check that a finished file was not cut while it was read; a removed file can still be read to its end."""
    path = split.id.rpartition(":")[0]
    length = None if least is None else storage_of(path).size(path)
    if least is not None and length is not None and length < least:
        raise FileFormatError(
            f"{path} was cut while it was being read: it had {least} bytes, and has {length} now. Files of a watched "
            "folder must not change until they have been read to their end. Restore the file."
        )


@dataclass(frozen=True)
class Limits:
    """Limits of :meth:`Watch.pending`."""

    files: int
    weight: int


ALL = Limits(1 << 62, 1 << 62)


class Watch:
    """The files under some paths, listed at most once per interval, on the driver."""

    def __init__(self, paths: tuple[str, ...], interval: float, deep: bool = True, again: bool = False) -> None:
        self.paths, self.interval, self.deep, self.again = paths, interval, deep, again
        self._reset()

    def __reduce__(self) -> tuple[Any, ...]:
        return Watch, (self.paths, self.interval, self.deep, self.again)

    def _reset(self) -> None:
        self._looked: float | None = None
        self._seen: dict[str, int] = {}  # the version of each path that has been cut into splits
        self._waiting: dict[str, Split] = {}
        self._read = 0
        self._begun: Set[str] = frozenset()  # paths that an earlier driver has begun to read, until the first listing

    def pending(self, cut: Cut, positions: Mapping[str, Any], over: Set[str], limits: Limits) -> list[Split]:
        """Unfinished splits, each from its position. O(files) if it lists, else O(splits returned)."""
        if len(over) < self._read:  # the state is another job's
            self._reset()
        self._read = len(over)
        if self._looked is None and not self.again:
            self._seen = dict(map(_path_and_version, chain(over, positions)))
            self._begun = frozenset(self._seen)
        if self._looked is None or now() - self._looked >= self.interval:
            self._look(cut, positions, over, begun=self._looked is not None)
        return list(self._chosen(positions, over, limits))

    def _look(self, cut: Cut, positions: Mapping[str, Any], over: Set[str], *, begun: bool) -> None:
        self._looked = now()
        waiting = {name.rpartition(":")[0] for name in self._waiting}
        read = None if self.again or not begun else (lambda path: path in self._seen and path not in waiting)
        files = found_files(self.paths, deep=self.deep, later=True, skip=read)
        if self.again:
            files.sort(key=lambda file: (file.modified, file.path))
        existing = {file.path for file in files}
        for name in [*self._waiting]:
            path, _, place = name.rpartition(":")
            if path not in existing and place.startswith("/") and name not in positions:
                del self._waiting[name], self._seen[path]  # removed before it was read
        for file in files:
            self._take(cut, file, over, begun)
        if not begun:
            self._check_begun({file.path: file.size for file in files}, positions, over)

    def _check_begun(self, sizes: Mapping[str, int], positions: Mapping[str, Any], over: Set[str]) -> None:
        """On resume: check that partly read files exist and have kept their length. O(positions + splits)."""
        lost: dict[str, str] = {}
        for name, position in positions.items():
            path, version = _path_and_version(name)
            if path not in sizes and not self._is_done(path, version, position, positions, over):
                lost[name] = f"was read up to position {position!r}, and is gone"
            elif path in sizes and name not in self._waiting and not self.again:
                why = f"as the split {name!r}, which does not exist any more"
                lost[name] = f"was read up to position {position!r}, {why}"
        for name in () if self.again else self._waiting:
            path, version = _path_and_version(name)
            if path in self._begun and sizes[path] < version and positions.get(name) != version:
                lost[name] = f"was read in part when it had {version} bytes, and has {sizes[path]} now"
        self._begun = frozenset()
        if lost:
            self._reset()
            causes = "; ".join(f"{name.rpartition(':')[0]} {why}" for name, why in sorted(lost.items())[:3])
            raise LostSplitsError(
                f"{len(lost)} splits of the files of {', '.join(map(repr, self.paths))} cannot be read to their end: "
                f"{causes}. Restore the files, and read them by the same paths, in the same format and pieces.",
                sorted(lost),
            )

    def _is_done(self, path: str, version: int, position: Any, positions: Mapping[str, Any], over: Set[str]) -> bool:
        """Whether a removed file is finished: read to its last byte, or modified and read again before."""
        if not self.again:
            return position == version
        known = map(_path_and_version, chain(positions, over))
        return any(other > (path, version) for other in known if other[0] == path)

    def _take(self, cut: Cut, file: Dated, over: Set[str], begun: bool) -> None:
        seen, version = self._seen.get(file.path), file.modified if self.again else file.size
        if seen is not None:
            if seen == version if self.again else begun:
                return
            if self.again:
                self._waiting.pop(f"{file.path}:/{seen}", None)
            else:
                version, file = seen, file._replace(size=seen)  # as it was cut before a restart
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


@dataclass(frozen=True)
class TextPieces:
    """Cuts text files. The charset decides where they can be cut."""

    charset: str

    def __call__(self, file: Dated) -> list[Split]:
        return pieces_of(file, self.charset, splittable=True)


@dataclass(frozen=True)
class FoundPiece(Split):
    """A split of a :class:`FileMonitor`. It goes from 0 to 1, as its only record is the piece itself."""

    piece: Split = field(default_factory=lambda: Split(""))


class _Monitor(Source[Split]):
    """Base of the monitors. ``cut`` makes pieces of a file."""

    def __init__(self, path: str, cut: Cut) -> None:
        self.path, self._cut = path, cut

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.path!r}>"

    def locations(self) -> tuple[str, ...]:
        return (self.path,)

    def _check_alone(self, parallelism: int) -> None:
        if parallelism != 1:
            raise InvalidProgramError(f"The file monitor of {self.path!r} runs with parallelism 1, not {parallelism}.")


class FileMonitor(_Monitor):
    """Emits splits of files for the reader after it (Flink: ContinuousFileMonitoringFunction, PROCESS_ONCE). A resumed
    job lists the files again, and reads those that it has not read."""

    def splits(self, parallelism: int) -> list[Split]:
        """The pieces of all current files. The driver lists them, as executors may see other files."""
        self._check_alone(parallelism)
        pieces = (piece for file in found_files((self.path,), deep=False) for piece in self._cut(file))
        return [FoundPiece(piece.id, 0, 1, piece.weight, piece=piece) for piece in pieces]

    def read(self, split: Split) -> Iterator[Records[Split]]:
        assert isinstance(split, FoundPiece)
        if split.start != split.end:
            yield Records([split.piece], split.end)


class FolderMonitor(_Monitor):
    """Emits splits of files for the reader after it, and keeps looking for more (Flink: PROCESS_CONTINUOUSLY). A file
    with a new modification time is read again from its beginning. A split is one version of a file,
    ``path:/nanoseconds``; its positions count pieces."""

    bounded = False

    def __init__(self, path: str, interval: int, cut: Cut) -> None:
        super().__init__(path, cut)
        self.interval = interval
        self._watch = self._watching()

    def _watching(self) -> Watch:
        return Watch((self.path,), self.interval / 1000, deep=False, again=True)

    def splits(self, parallelism: int) -> list[Split]:
        return self._watching().pending(self._as_split, {}, frozenset(), ALL)

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> Sequence[Split]:
        """New or modified files by modification time, as many as a step can read. A large file takes several steps."""
        self._check_alone(parallelism)
        return self._watch.pending(self._as_split, positions, over, Limits(MOST_FILES, MOST_BYTES))

    def available(
        self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()
    ) -> Sequence[Split]:
        return self._watch.pending(self._as_split, positions, over, ALL)

    def _as_split(self, file: Dated) -> list[Split]:
        return [Split(f"{file.path}:/{file.modified}", 0, len(self._cut(file)), file.size, finite=True)]

    def limited(self, split: Split, records: int) -> Split:
        """Fewer pieces: their records count, as they are read in the same step."""
        end = split.start + max(1, MOST_BYTES // SPLIT_BYTES)
        return split if split.end <= end else replace(split, end=end, finite=False)

    def read(self, split: Split) -> Iterator[Records[Split]]:
        path, _, version = split.id.rpartition(":/")
        pieces = self._cut(Dated(path, split.weight, int(version)))
        for index, piece in enumerate(pieces[: split.end]):
            if index >= split.start:
                yield Records([piece], index + 1)
