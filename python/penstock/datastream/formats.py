"""Sources and formats of Flink's connector interfaces, as far as a plan needs to know them.

A program that reads through them can be planned, not yet run.
"""

from __future__ import annotations

from abc import ABC
from enum import Enum
from typing import Generic, TypeVar

T = TypeVar("T", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class Source(ABC, Generic[T]):
    """A source of the new kind (Flink: ``Source``), for ``from_source``."""


class InputFormat(ABC, Generic[T]):
    """An input format, for ``create_input``."""


class FileInputFormat(InputFormat[T]):
    """An input format over files.

    Args:
        file_path: what it reads.
    """

    def __init__(self, file_path: str) -> None:
        self.file_path = file_path


class TextInputFormat(FileInputFormat[str]):
    """The lines of text files."""


class OutputFormat(ABC, Generic[T_contra]):
    """An output format, for ``write_using_output_format``."""


class FileProcessingMode(Enum):
    """Whether a file source ends when it has read what is there."""

    PROCESS_ONCE = 0
    PROCESS_CONTINUOUSLY = 1
