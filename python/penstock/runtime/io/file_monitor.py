"""Finds text files and emits the pieces in which a reader reads them: the first of the two operators of
``read_text_file``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from penstock.errors import InvalidProgramError
from penstock.runtime.io.file_source import SPLIT_BYTES, file_splits, pieces_of
from penstock.runtime.io.files import check_charset
from penstock.runtime.io.sources import BatchSource
from penstock.runtime.io.splits import Records, Source, Split
from penstock.runtime.io.storage import Dated
from penstock.runtime.io.watching import ALL, MOST_BYTES, MOST_FILES, Limits, Watch


@dataclass(frozen=True)
class FileMonitor(BatchSource):
    """Emits splits of text files, for FileReader to read (Flink: ContinuousFileMonitoringFunction, PROCESS_ONCE).

    Attributes:
        path: a file, a folder for the files in it (not those of folders below), or a pattern.
        charset: encoding, which decides where files may be cut.
        found: the splits, once the driver has looked for them.
    """

    path: str
    charset: str = "UTF-8"
    found: tuple[Split, ...] = ()

    def prepare(self, parallelism: int) -> FileMonitor:
        """The path exists and the charset is known; the driver lists the files, once, as executors may see others."""
        check_charset(self.charset)
        if parallelism != 1:
            raise InvalidProgramError(f"The file monitor of {self.path!r} runs with parallelism 1, not {parallelism}.")
        return replace(self, found=tuple(file_splits((self.path,), self.charset, splittable=True, deep=False)))

    def batches(self, subtask: int, parallelism: int) -> Iterator[Sequence[Split]]:
        """One split at a time."""
        return ([split] for split in self.found)

    def locations(self) -> tuple[str, ...]:
        """The path."""
        return (self.path,)


Cut = Callable[[Dated], list[Split]]


@dataclass(frozen=True)
class TextPieces:
    """Cuts text files.

    Attributes:
        charset: encoding, which decides where they may be cut.
    """

    charset: str

    def __call__(self, file: Dated) -> list[Split]:
        """The pieces of a file."""
        return pieces_of(file, self.charset, splittable=True)


class FolderMonitor(Source[Split]):
    """Emits splits of files, for a reader behind it, and goes on looking for more (Flink: PROCESS_CONTINUOUSLY).

    A file that has been modified, by the time of its storage, is read again from its beginning. A split of this source
    is a file as it was at one time, ``path:/nanoseconds``; its positions count pieces.

    Args:
        path: a file, a folder for the files in it (not those of folders below), or a pattern.
        interval: between two looks, in milliseconds.
        cut: the pieces of a file; it travels.
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
        """The files that there are now, in order of their times."""
        return self._watching().pending(_as_split, {}, frozenset(), ALL)

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> Sequence[Split]:
        """Files that are new or have been modified, in order of their times, as many as a step can take; a large one is
        read in several steps."""
        if parallelism != 1:
            raise InvalidProgramError(f"The file monitor of {self.path!r} runs with parallelism 1, not {parallelism}.")
        return self._watch.pending(_as_split, positions, over, Limits(MOST_FILES, MOST_BYTES))

    def available(
        self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()
    ) -> Sequence[Split]:
        """All of them."""
        return self._watch.pending(_as_split, positions, over, ALL)

    def limited(self, split: Split, records: int) -> Split:
        """Some pieces, as what is in them counts, and is read in the same step."""
        end = (split.start or 0) + max(1, MOST_BYTES // SPLIT_BYTES)
        return split if split.weight <= MOST_BYTES else replace(split, end=end, finite=False)

    def read(self, split: Split) -> Iterator[Records[Split]]:
        """The pieces of a file, one at a time."""
        path, _, version = split.id.rpartition(":/")
        pieces = self._cut(Dated(path, split.weight, int(version)))
        for index, piece in enumerate(pieces[: split.end]):
            if index >= (split.start or 0):
                yield Records([piece], index + 1)

    def locations(self) -> tuple[str, ...]:
        """The path."""
        return (self.path,)


def _as_split(file: Dated) -> list[Split]:
    return [Split(f"{file.path}:/{file.modified}", weight=file.size, finite=True)]
