"""Finds text files and emits the pieces in which a reader reads them: the first of the two operators of
``read_text_file``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from penstock.errors import InvalidProgramError
from penstock.runtime.io.file_source import file_splits
from penstock.runtime.io.files import check_charset
from penstock.runtime.io.sources import BatchSource
from penstock.runtime.io.splits import Split


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
