"""Formats of files, with PyFlink's names, for sources and sinks of files; and those of Flink's older interfaces. Each
format is one module of :mod:`penstock.connectors.formats`."""

from __future__ import annotations

import sys

from penstock.connectors.formats import avro, csv, json, orc, parquet
from penstock.connectors.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroReaderFormat,
    AvroSchema,
    AvroWriterFactory,
    GenericRecordAvroTypeInfo,
)
from penstock.connectors.formats.csv import (
    CsvBulkWriters,
    CsvReaderFormat,
    CsvSchema,
    CsvSchemaBuilder,
    CsvWriterFactory,
)
from penstock.connectors.formats.json import JsonLinesEncoder, JsonReaderFormat
from penstock.connectors.formats.orc import OrcBulkWriters, OrcWriterFactory
from penstock.connectors.formats.parquet import (
    AvroParquetReaderFormat,
    AvroParquetReaders,
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
    ParquetWriterFactory,
)
from penstock.datastream import input_formats
from penstock.datastream.input_formats import *

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
    "GenericRecordAvroTypeInfo",
    "JsonLinesEncoder",
    "JsonReaderFormat",
    "OrcBulkWriters",
    "OrcWriterFactory",
    "ParquetBulkWriters",
    "ParquetColumnarRowInputFormat",
    "ParquetWriterFactory",
]
__all__ += input_formats.__all__

for _format in (avro, csv, json, orc, parquet):  # penstock.datastream.formats.csv is where PyFlink has it
    sys.modules[f"{__name__}.{_format.__name__.rpartition('.')[2]}"] = _format
