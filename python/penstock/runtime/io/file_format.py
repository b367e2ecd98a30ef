"""The interface of formats of files, and the simplest: lines of text (Flink 1.20: ``StreamFormat``, ``BulkFormat``,
``TextLineInputFormat``)."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Generic, TypeVar

from penstock.common import checks
from penstock.common.typeinfo import TypeInformation, Types
from penstock.errors import FileFormatError
from penstock.runtime.io.file_paths import found_files
from penstock.runtime.io.file_source import damages, path_of, pieces_of, read_text, why_decoded
from penstock.runtime.io.splits import Records, Split
from penstock.storage.storage import Dated

T = TypeVar("T", covariant=True)


@contextlib.contextmanager
def inflating(path: str) -> Iterator[None]:
    """While what a file holds is read: FileFormatError, with the name of the file, if its compression is damaged."""
    try:
        yield
    except damages() as error:
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
        """The pieces to read in files, folders and patterns: each file or, where the format allows it, pieces of files.

        Raises:
            ConfigurationError: a path stands for nothing.
            UnsupportedError: it is on another file system.
        """
        return [piece for file in found_files(paths) for piece in self.pieces(file, splittable)]

    def pieces(self, file: Dated, splittable: bool) -> list[Split]:
        """A file as one split or, if it may be cut, as several."""
        return pieces_of(file, "UTF-8", False)

    @abstractmethod
    def read(self, split: Split) -> Iterator[Records[T]]:
        """The records of a split, or of what is left of one, in order, some at a time.

        Raises:
            FileFormatError: the file is not what the format says.
            OSError: it cannot be read.
        """

    def read_columns(self, split: Split, functions: ModuleType) -> Iterator[Records[T]]:
        """As :meth:`read`, where native code is in use, and records may be those of a native batch. Penstock's own
        formats override it."""
        return self.read(split)

    def why_objects(self, functions: ModuleType) -> str:
        """Why :meth:`read_columns` gives objects; "" where it gives columns, but for records that native code cannot
        vouch for."""
        return f"native code does not read what {type(self).__name__} does"


class StreamFormat(FileFormat[T]):
    """A format whose records are read one after the other, for ``FileSource.for_record_stream_format``."""

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat[str]:
        r"""A record is a line, without its end, which is ``\n`` or ``\r\n``. Bytes that are not text in the charset
        become U+FFFD, as in Java.

        Args:
            charset_name: encoding by its Python or IANA name.

        Raises:
            InvalidProgramError: Python does not know the charset.
        """
        return TextLines(checks.charset(charset_name, "text_line_format"))


class BulkFormat(FileFormat[T]):
    """A format whose records are read many at a time, for ``FileSource.for_bulk_file_format``."""


@dataclass(frozen=True)
class TextLines(StreamFormat[str]):
    """Lines of text; see :meth:`StreamFormat.text_line_format`."""

    charset: str

    @property
    def produced_type(self) -> TypeInformation[Any]:
        return Types.STRING()

    def pieces(self, file: Dated, splittable: bool) -> list[Split]:
        return pieces_of(file, self.charset, splittable)

    def why_objects(self, functions: ModuleType) -> str:
        return why_decoded(self.charset)

    def read(self, split: Split) -> Iterator[Records[str]]:
        with inflating(path_of(split)):
            yield from read_text(split, self.charset)


class InputFormat(ABC, Generic[T]):
    """An input format, for ``create_input``."""


class FileInputFormat(InputFormat[T]):
    """An input format over files."""

    def __init__(self, file_path: str) -> None:
        self.file_path = file_path

    def file_format(self) -> FileFormat[T] | None:
        """The format of its files; None if they cannot be read, and programs can only be planned."""
        return None

    def get_produced_type(self) -> TypeInformation[T] | None:
        """The type of its records, None for undeclared."""
        return None
