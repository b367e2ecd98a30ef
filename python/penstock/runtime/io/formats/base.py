"""What a format of files is, and the simplest: lines of text; what writers of tables have in common.

Sources of the semantics: ``StreamFormat``, ``BulkFormat``, ``TextLineInputFormat`` (Flink 1.20).
"""

from __future__ import annotations

import contextlib
import gzip
import lzma
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from penstock.common import checks
from penstock.common.bulk_writer import BulkWriter
from penstock.common.column_types import RowType
from penstock.common.typeinfo import TypeInformation, Types
from penstock.errors import FileFormatError
from penstock.runtime.io.file_source import pieces_of, read_text
from penstock.runtime.io.finding import found_files
from penstock.runtime.io.splits import Records, Split
from penstock.runtime.io.storage import Dated

T = TypeVar("T", covariant=True)


def path_of(split: Split) -> str:
    """The file that a split is of, or is."""
    return split.id if split.end is None else split.id.rpartition(":")[0]


@contextlib.contextmanager
def inflating(path: str) -> Iterator[None]:
    """While what a file holds is read: names the file if its compression is damaged.

    Args:
        path: of the file.

    Raises:
        FileFormatError: it is.
    """
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise FileFormatError(
            f"{path} cannot be read as the compressed file that its name says it is: {error}. Perhaps it has not been "
            "written to its end."
        ) from error


class FileFormat(ABC, Generic[T]):
    """How the records of a file follow from what is in it."""

    @property
    @abstractmethod
    def produced_type(self) -> TypeInformation[Any]:
        """Type of the records."""

    def splits(self, paths: tuple[str, ...], splittable: bool) -> list[Split]:
        """What there is to read, each file or, where the format allows it, pieces of files.

        Args:
            paths: of files, folders, patterns.
            splittable: whether files may be cut.

        Raises:
            ConfigurationError: a path stands for nothing.
            UnsupportedError: it is on another file system.
        """
        return [piece for file in found_files(paths) for piece in self.pieces(file, splittable)]

    def pieces(self, file: Dated, splittable: bool) -> list[Split]:
        """A file as one split, or as several.

        Args:
            file: its path and size.
            splittable: whether it may be cut.
        """
        return pieces_of(file, "UTF-8", False)

    @abstractmethod
    def read(self, split: Split) -> Iterator[Records[T]]:
        """The records of a split, in order, some at a time.

        Args:
            split: one of :meth:`splits`, or what is left of one.

        Raises:
            FileFormatError: the file is not what the format says.
            OSError: it cannot be read.
        """


class StreamFormat(FileFormat[T]):
    """A format whose records are read one after the other, for ``FileSource.for_record_stream_format``."""

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat[str]:
        r"""A record is a line, without its end, which is ``\n`` or ``\r\n``. Bytes that are no text in the charset
        become U+FFFD, as in Java.

        Args:
            charset_name: encoding by its Python or IANA name.

        Raises:
            InvalidProgramError: Python does not know the charset.
        """
        return TextLines(checks.charset(charset_name, "text_line_format"))


class TableWriter(BulkWriter[Any]):
    """Base of writers of Arrow's that write some rows at a time.

    Args:
        row_type: of the rows.
        utc: whether clocks on walls are taken to be in UTC, otherwise in the zone of the machine.

    Attributes:
        batches: makes Arrow batches of records.
        writer: Arrow's.
    """

    writer: Any

    def __init__(self, row_type: RowType, utc: bool = True) -> None:
        from penstock.runtime.io.formats.batches import BatchWriter

        self.batches = BatchWriter(row_type, utc)
        self._kept: list[Any] = []

    @abstractmethod
    def write(self, table: Any) -> None:
        """Hand rows to Arrow's writer."""

    def add_element(self, element: Any, /) -> None:
        """Keep a row."""
        self.add_all([element])

    def add_all(self, elements: Sequence[Any], /) -> None:
        """Keep some rows."""
        batch = self.batches.batch(elements)
        self._kept.append(batch)
        self.waiting += batch.nbytes

    def flush(self) -> None:
        """Write what is kept."""
        import pyarrow as pa

        if self._kept:
            self.write(pa.Table.from_batches(self._kept))
            self._kept, self.waiting = [], 0

    def finish(self) -> None:
        """Write what is kept, and the footer."""
        self.flush()
        self.writer.close()


class BulkFormat(FileFormat[T]):
    """A format whose records are read many at a time, for ``FileSource.for_bulk_file_format``."""


@dataclass(frozen=True)
class TextLines(StreamFormat[str]):
    """Lines of text; see :meth:`StreamFormat.text_line_format`.

    Attributes:
        charset: encoding.
    """

    charset: str

    @property
    def produced_type(self) -> TypeInformation[Any]:
        """``Types.STRING()``."""
        return Types.STRING()

    def pieces(self, file: Dated, splittable: bool) -> list[Split]:
        """The file, or pieces of 32 MiB where it is not compressed and the encoding allows it."""
        return pieces_of(file, self.charset, splittable)

    def read(self, split: Split) -> Iterator[Records[str]]:
        """The lines of a split."""
        with inflating(path_of(split)):
            yield from read_text(split, self.charset)
