"""Connectors, under PyFlink's names: what programs read from and write to. Reading and writing itself is
:mod:`penstock.runtime.io`.

A source of your own is a subclass of :class:`Source`.
"""

from __future__ import annotations

from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.connectors.file_system import (
    FileEnumeratorProvider,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    StreamFormat,
)
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.runtime.io.splits import Records, Source, Split

__all__ = [
    "DataGeneratorSource",
    "FileEnumeratorProvider",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "NumberSequenceSource",
    "Records",
    "Source",
    "Split",
    "StreamFormat",
]
