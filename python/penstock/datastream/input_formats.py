"""Formats of Flink's older interfaces, as far as a plan needs to know them: a program that reads or writes through them
can be planned, and run where a format of files says how it is read. Sources that run are in
:mod:`penstock.datastream.connectors`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.common.typeinfo import TypeInformation, Types
from penstock.runtime.io.splits import Source

if TYPE_CHECKING:
    from penstock.runtime.io.formats.base import FileFormat

__all__ = [
    "AddedSource",
    "FileInputFormat",
    "FileProcessingMode",
    "InputFormat",
    "OutputFormat",
    "Source",
    "TextInputFormat",
]

T = TypeVar("T", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class AddedSource(ABC):
    """A connector's source for ``add_source``, as they were before Flink 1.12."""

    @abstractmethod
    def source(self) -> Source[Any]:
        """What tasks run."""


class InputFormat(ABC, Generic[T]):
    """An input format, for ``create_input``."""


class FileInputFormat(InputFormat[T]):
    """An input format over files.

    Args:
        file_path: what it reads.
    """

    def __init__(self, file_path: str) -> None:
        self.file_path = file_path

    def file_format(self) -> FileFormat[T] | None:
        """How its files are read; None if they are not, and programs with it can be planned only."""
        return None

    def get_produced_type(self) -> TypeInformation[T] | None:
        """The type of its records, None for undeclared."""
        return None


class TextInputFormat(FileInputFormat[str]):
    """The lines of text files."""

    def get_produced_type(self) -> TypeInformation[str]:
        """Texts."""
        return Types.STRING()


class OutputFormat(ABC, Generic[T_contra]):
    """An output format, for ``write_using_output_format``."""


class FileProcessingMode(Enum):
    """Whether a file source ends when it has read what is there."""

    PROCESS_ONCE = 0
    PROCESS_CONTINUOUSLY = 1
