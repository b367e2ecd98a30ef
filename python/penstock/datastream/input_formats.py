"""Input and output formats of Flink's older interfaces. A program that uses one can be planned, and runs if a file
format defines how it is read. Sources that run are in :mod:`penstock.datastream.connectors`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, Generic, TypeVar

from penstock.common.typeinfo import TypeInformation, Types
from penstock.runtime.io.file_format import FileInputFormat, InputFormat
from penstock.runtime.io.splits import Source

__all__ = ["FileInputFormat", "FileProcessingMode", "InputFormat", "OutputFormat", "Source", "TextInputFormat"]

T = TypeVar("T", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class AddedSource(ABC):
    """A connector's source for ``add_source``, the interface before Flink 1.12."""

    @abstractmethod
    def source(self) -> Source[Any]:
        """The part of the source that tasks run."""


class TextInputFormat(FileInputFormat[str]):
    """The lines of text files."""

    def get_produced_type(self) -> TypeInformation[str]:
        """Strings."""
        return Types.STRING()


class OutputFormat(ABC, Generic[T_contra]):
    """An output format, for ``write_using_output_format``."""


class FileProcessingMode(Enum):
    """Whether a file source is bounded by the files that exist at its start."""

    PROCESS_ONCE = 0
    PROCESS_CONTINUOUSLY = 1
