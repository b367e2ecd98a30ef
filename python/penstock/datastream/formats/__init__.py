"""Formats of files, with PyFlink's names, for sources and sinks of files; and those of Flink's older interfaces. A file
per format. How they are read and written is in :mod:`penstock.runtime.io.formats`."""

from __future__ import annotations

from penstock.datastream.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroReaderFormat,
    AvroSchema,
    AvroWriterFactory,
    GenericRecordAvroTypeInfo,
)
from penstock.datastream.formats.csv import (
    CsvBulkWriters,
    CsvReaderFormat,
    CsvSchema,
    CsvSchemaBuilder,
    CsvWriterFactory,
)
from penstock.datastream.formats.json import JsonLinesEncoder, JsonReaderFormat
from penstock.datastream.formats.orc import OrcBulkWriters, OrcWriterFactory
from penstock.datastream.formats.parquet import (
    AvroParquetReaderFormat,
    AvroParquetReaders,
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
    ParquetWriterFactory,
)
from penstock.datastream.input_formats import (
    FileInputFormat,
    FileProcessingMode,
    InputFormat,
    OutputFormat,
    Source,
    TextInputFormat,
)

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroParquetReaderFormat",
    "AvroParquetReaders",
    "AvroParquetWriters",
    "AvroReaderFormat",
    "AvroSchema",
    "AvroWriterFactory",
    "CsvBulkWriters",
    "CsvReaderFormat",
    "CsvSchema",
    "CsvSchemaBuilder",
    "CsvWriterFactory",
    "FileInputFormat",
    "FileProcessingMode",
    "GenericRecordAvroTypeInfo",
    "InputFormat",
    "JsonLinesEncoder",
    "JsonReaderFormat",
    "OrcBulkWriters",
    "OrcWriterFactory",
    "OutputFormat",
    "ParquetBulkWriters",
    "ParquetColumnarRowInputFormat",
    "ParquetWriterFactory",
    "Source",
    "TextInputFormat",
]
