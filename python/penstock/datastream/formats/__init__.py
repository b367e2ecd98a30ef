"""Formats of files, with PyFlink's names, for sources and sinks of files; and those of Flink's older interfaces. A file
per format. How they are read and written is in :mod:`penstock.runtime.io.formats`."""

from __future__ import annotations

from penstock.datastream.formats.csv import (
    CsvBulkWriters,
    CsvReaderFormat,
    CsvSchema,
    CsvSchemaBuilder,
    CsvWriterFactory,
)
from penstock.datastream.formats.input_format import (
    FileInputFormat,
    FileProcessingMode,
    InputFormat,
    OutputFormat,
    Source,
    TextInputFormat,
)
from penstock.datastream.formats.orc import OrcBulkWriters, OrcWriterFactory
from penstock.datastream.formats.parquet import (
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
    ParquetWriterFactory,
)

__all__ = [
    "CsvBulkWriters",
    "CsvReaderFormat",
    "CsvSchema",
    "CsvSchemaBuilder",
    "CsvWriterFactory",
    "FileInputFormat",
    "FileProcessingMode",
    "InputFormat",
    "OrcBulkWriters",
    "OrcWriterFactory",
    "OutputFormat",
    "ParquetBulkWriters",
    "ParquetColumnarRowInputFormat",
    "ParquetWriterFactory",
    "Source",
    "TextInputFormat",
]
