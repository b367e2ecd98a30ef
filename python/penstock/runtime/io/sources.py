"""Sources that come with Penstock. A program's own sources are objects with ``run(ctx)``, see
:mod:`.operators.source`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.errors import InvalidProgramError
from penstock.runtime.io.files import FileSplit, check_charset, file_splits, input_files, local_path

_BATCH = 2_000


class BatchSource:
    """A bounded source that is pulled for batches of records."""

    def prepare(self, parallelism: int) -> BatchSource:
        """Called on the driver before the job starts: the source as it travels.

        Raises:
            PenstockError: it cannot run so.
        """
        return self

    def batches(self, subtask: int, parallelism: int) -> Iterator[Sequence[Any]]:
        """The records of one subtask, in order, in batches."""
        raise NotImplementedError


@dataclass(frozen=True)
class CollectionSource(BatchSource):
    """The elements of a list. Runs with parallelism 1 (Flink: ``FromElementsFunction``).

    Attributes:
        elements: the records; they travel with the program.
        type_info: their declared type.
    """

    elements: list[Any]
    type_info: TypeInformation[Any] | None = None

    def prepare(self, parallelism: int) -> CollectionSource:
        """A collection is read once, so by one subtask."""
        if parallelism != 1:
            raise InvalidProgramError(
                f"A collection source cannot have the parallelism {parallelism}: each subtask would emit all "
                "elements. Set the parallelism of the next operator instead.",
                flink_class="java.lang.IllegalArgumentException",
            )
        return self

    def batches(self, subtask: int, parallelism: int) -> Iterator[Sequence[Any]]:
        """Slices of the list."""
        return (self.elements[i : i + _BATCH] for i in range(0, len(self.elements), _BATCH))


@dataclass(frozen=True)
class SequenceSource(BatchSource):
    """The integers from start to end, both included; subtask i of p emits start + i, start + i + p, … (Flink:
    StatefulSequenceSource)."""

    start: int
    end: int

    def batches(self, subtask: int, parallelism: int) -> Iterator[Sequence[Any]]:
        """Ranges of the subtask's own numbers."""
        step = parallelism * _BATCH
        for first in range(self.start + subtask, self.end + 1, step):
            yield range(first, min(first + step, self.end + 1), parallelism)


@dataclass(frozen=True)
class FileMonitor(BatchSource):
    """Finds files and emits their splits, for FileReader to read (Flink: ContinuousFileMonitoringFunction,
    PROCESS_ONCE).

    Attributes:
        path: a file, or a folder for the files in it; a ``file:`` URI as well.
        charset: encoding, which decides where files may be cut.
    """

    path: str
    charset: str = "UTF-8"

    def prepare(self, parallelism: int) -> FileMonitor:
        """The path exists and the charset is known; executors may have another working folder, so the path is made
        absolute."""
        check_charset(self.charset)
        input_files(self.path)
        if parallelism != 1:
            raise InvalidProgramError(f"The file monitor of {self.path!r} runs with parallelism 1, not {parallelism}.")
        return replace(self, path=str(local_path(self.path).absolute()))

    def batches(self, subtask: int, parallelism: int) -> Iterator[Sequence[FileSplit]]:
        """One split at a time."""
        return ([split] for split in file_splits(self.path, self.charset))
