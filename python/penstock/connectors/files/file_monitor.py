"""Finds files and emits splits of them: the first of the two operators of ``read_text_file``, ``read_file`` and
``create_input``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.connectors.files.watched_folders import ALL, MOST_BYTES, MOST_FILES, Limits, Watch
from penstock.errors import InvalidProgramError
from penstock.runtime.io.file_paths import found_files
from penstock.runtime.io.file_source import SPLIT_BYTES, pieces_of
from penstock.runtime.io.splits import Records, Source, Split
from penstock.storage.storage import Dated

Cut = Callable[[Dated], list[Split]]


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


class FileMonitor(Source[Split]):
    """Emits splits of files for the reader after it (Flink: ContinuousFileMonitoringFunction, PROCESS_ONCE).

    A resumed job lists the files again, and reads those that it has not read.
    """

    def __init__(self, path: str, cut: Cut) -> None:
        self.path = path
        self._cut = cut

    def __repr__(self) -> str:
        return f"<FileMonitor of {self.path!r}>"

    def splits(self, parallelism: int) -> list[Split]:
        """The pieces of all current files. The driver lists them, as executors may see other files."""
        _check_alone(self.path, parallelism)
        found = (piece for file in found_files((self.path,), deep=False) for piece in self._cut(file))
        return [FoundPiece(piece.id, 0, 1, piece.weight, piece=piece) for piece in found]

    def read(self, split: Split) -> Iterator[Records[Split]]:
        assert isinstance(split, FoundPiece)
        if split.start != split.end:
            yield Records([split.piece], split.end)

    def locations(self) -> tuple[str, ...]:
        return (self.path,)


def _check_alone(path: str, parallelism: int) -> None:
    """A monitor runs in one subtask, as in Flink."""
    if parallelism != 1:
        raise InvalidProgramError(f"The file monitor of {path!r} runs with parallelism 1, not {parallelism}.")


class FolderMonitor(Source[Split]):
    """Emits splits of files for the reader after it, and keeps looking for more (Flink: PROCESS_CONTINUOUSLY).

    A file with a new modification time is read again from its beginning. A split is one version of a file,
    ``path:/nanoseconds``; its positions count pieces.
    """

    bounded = False

    def __init__(self, path: str, interval: int, cut: Cut) -> None:
        self.path = path
        self.interval = interval
        self._cut = cut
        self._watch = self._watching()

    def __repr__(self) -> str:
        return f"<FolderMonitor of {self.path!r}>"

    def _watching(self) -> Watch:
        return Watch((self.path,), self.interval / 1000, deep=False, again=True)

    def splits(self, parallelism: int) -> list[Split]:
        """The current files by modification time."""
        return self._watching().pending(self._as_split, {}, frozenset(), ALL)

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> Sequence[Split]:
        """New or modified files by modification time, as many as a step can read. A large file takes several steps."""
        _check_alone(self.path, parallelism)
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
        """The pieces of a file, one at a time."""
        path, _, version = split.id.rpartition(":/")
        pieces = self._cut(Dated(path, split.weight, int(version)))
        for index, piece in enumerate(pieces[: split.end]):
            if index >= split.start:
                yield Records([piece], index + 1)

    def locations(self) -> tuple[str, ...]:
        return (self.path,)
