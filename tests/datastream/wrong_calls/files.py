"""Formats of files: types of columns, schemas, writers, readers."""

from __future__ import annotations

from penstock.common import Configuration, Types
from penstock.common.data_types import DataTypes as D
from penstock.common.serialization import Encoder
from penstock.datastream.connectors import FileSink, FileSource, RollingPolicy, StreamFormat, StreamingFileSink
from penstock.datastream.formats import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroParquetReaders,
    AvroReaderFormat,
    AvroSchema,
    CsvBulkWriters,
    CsvReaderFormat,
    CsvSchema,
    JsonLinesEncoder,
    JsonReaderFormat,
    OrcBulkWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from penstock.errors import ConfigurationError as C
from penstock.errors import InvalidProgramError as P
from penstock.errors import TypeInfoError as T
from penstock.errors import UnsupportedError as U

LINES = Encoder.simple_string_encoder()
PAIR = D.ROW([D.FIELD("word", D.STRING()), D.FIELD("count", D.INT())])
PARQUET = ParquetBulkWriters.for_row_type(PAIR)
READER = ParquetColumnarRowInputFormat(PAIR)
TEXT = StreamFormat.text_line_format()


def csv():
    return CsvSchema.builder().add_string_column("a")


def hadoop(key, value="1"):
    return Configuration().set_string(key, value)


ROWS = [
    ("bulk sink: none", lambda w: FileSink.for_bulk_format("out", None), P, "ParquetBulkWriters"),
    ("bulk sink: encoder", lambda w: FileSink.for_bulk_format("out", LINES), P, "for_row_format"),
    ("bulk sink: blank", lambda w: FileSink.for_bulk_format(" ", PARQUET), P, "for_bulk_format.*blank"),
    ("bulk sink: older one", lambda w: StreamingFileSink.for_bulk_format("out", LINES), P, "for_row_format"),
    (
        "row sink: bulk writers",
        lambda w: FileSink.for_row_format("out", PARQUET),
        P,
        "ParquetWriterFactory.*for_bulk_format",
    ),
    (
        "bulk sink: rolling",
        lambda w: FileSink.for_bulk_format("out", PARQUET).with_rolling_policy(RollingPolicy.default_rolling_policy()),
        P,
        "on_checkpoint_rolling_policy",
    ),
    ("bulk source: text", lambda w: FileSource.for_bulk_file_format(TEXT, "in"), P, "for_record_stream_format"),
    ("bulk source: no path", lambda w: FileSource.for_bulk_file_format(READER), P, "no path"),
    ("record source: bulk", lambda w: FileSource.for_record_stream_format(READER, "in"), P, "for_bulk_file_format"),
    ("parquet: no type", lambda w: ParquetBulkWriters.for_row_type(None), T, "type of rows.*DataTypes.ROW"),
    ("parquet: scalar", lambda w: ParquetBulkWriters.for_row_type(D.INT()), T, "DataTypes.INT as the type of rows"),
    ("parquet: no fields", lambda w: ParquetBulkWriters.for_row_type(D.ROW([])), T, "DataTypes.ROW"),
    (
        "parquet: pickled",
        lambda w: ParquetBulkWriters.for_row_type(Types.ROW([Types.PICKLED_BYTE_ARRAY()])),
        U,
        "column",
    ),
    ("parquet: batch", lambda w: ParquetColumnarRowInputFormat(PAIR, batch_size=0), P, "batch size"),
    ("parquet: utc", lambda w: ParquetColumnarRowInputFormat(PAIR, is_utc_timestamp="no"), P, "is_utc_timestamp"),
    ("parquet: hadoop", lambda w: ParquetBulkWriters.for_row_type(PAIR, hadoop("fs.s3a.key")), U, "fs.s3a.key"),
    ("parquet: hadoop dict", lambda w: ParquetBulkWriters.for_row_type(PAIR, {"a": "b"}), P, "Configuration"),
    (
        "parquet: compression",
        lambda w: ParquetBulkWriters.for_row_type(PAIR, hadoop("parquet.compression", "zip")),
        C,
        "parquet.compression.*'zip'",
    ),
    (
        "parquet: block",
        lambda w: ParquetBulkWriters.for_row_type(PAIR, hadoop("parquet.block.size", "0")),
        C,
        "above 0",
    ),
    ("orc: property", lambda w: OrcBulkWriters.for_row_type(PAIR, hadoop("orc.key")), U, "orc.key.*orc.compress"),
    ("orc: type", lambda w: OrcBulkWriters.for_row_type("row"), T, "DataTypes.ROW"),
    ("avro: no json", lambda w: AvroSchema.parse_string("record"), P, "no Avro schema"),
    ("avro: no text", lambda w: AvroSchema.parse_string({"type": "record"}), P, "schema"),
    ("avro: no file", lambda w: AvroSchema.parse_file("nothing.avsc"), P, "nothing.avsc"),
    ("avro: text as schema", lambda w: AvroReaderFormat.for_generic_record("{}"), P, "AvroSchema.parse_string"),
    ("avro: scalar", lambda w: AvroBulkWriters.for_generic_record(AvroSchema('"int"')), P, "not that of a record"),
    ("avro: input", lambda w: AvroInputFormat(" ", AvroSchema("{}")), P, "blank"),
    ("avro: parquet", lambda w: AvroParquetReaders.for_generic_record(None), P, "AvroSchema.parse_string"),
    ("json: type", lambda w: JsonReaderFormat.for_row_type("{}"), T, "type of rows"),
    ("json: encoder", lambda w: JsonLinesEncoder.for_row_type(D.STRING()), T, "type of rows"),
    ("json: bulk", lambda w: FileSink.for_bulk_format("out", JsonLinesEncoder.for_row_type(PAIR)), P, "for_row_format"),
    ("csv: no columns", lambda w: CsvReaderFormat.for_schema(CsvSchema.builder().build()), P, "without columns"),
    ("csv: builder", lambda w: CsvReaderFormat.for_schema(csv()), P, r"build\(\)"),
    ("csv: writers", lambda w: CsvBulkWriters.for_schema("a,b"), P, "CsvSchema.builder"),
    ("csv: column twice", lambda w: csv().add_string_column("a"), P, "its own"),
    ("csv: name", lambda w: csv().add_string_column(5), P, "name of the column"),
    ("csv: number", lambda w: csv().add_number_column("n", D.STRING()), P, "which is no number"),
    ("csv: number class", lambda w: csv().add_number_column("n", int), P, "DataTypes.INT"),
    ("csv: array of rows", lambda w: csv().add_array_column("l", element_type=PAIR), U, "column of text cannot show"),
    ("csv: map", lambda w: csv().add_column("m", Types.MAP(Types.STRING(), Types.INT())), U, "Use Parquet"),
    ("csv: separator", lambda w: csv().set_column_separator("||"), P, "single character"),
    ("csv: quote", lambda w: csv().set_quote_char(""), P, "single character"),
    ("csv: escape", lambda w: csv().set_escape_char(None), P, "set_escape_char"),
    ("csv: line end", lambda w: csv().set_line_separator("@"), U, "set_line_separator"),
    ("csv: header", lambda w: csv().set_use_header("yes"), P, "True or False"),
    ("csv: index", lambda w: csv().remove_array_element_separator(3), P, "there are 1 columns"),
    ("csv: other schema", lambda w: csv().add_columns_from(csv()), P, "add_columns_from"),
    ("column: digits", lambda w: D.DECIMAL(50, 2), T, "DECIMAL.*precision"),
    ("column: scale", lambda w: D.DECIMAL(5, 6), T, "scale"),
    ("column: length", lambda w: D.VARCHAR(0), T, "VARCHAR.*length"),
    ("column: fraction", lambda w: D.TIMESTAMP(10), T, "TIMESTAMP"),
    ("column: element", lambda w: D.ARRAY(D.STRING), T, "parentheses"),
    ("column: of records", lambda w: D.MAP(Types.STRING(), D.INT()), T, "types of columns"),
    ("column: row twice", lambda w: D.ROW([D.FIELD("a", D.INT()), D.FIELD("a", D.INT())]), T, "more than once"),
    ("column: field name", lambda w: D.FIELD(1, D.INT()), T, "name of a field"),
    ("column: null", lambda w: D.NULL(), U, "may be None"),
    ("column: multiset", lambda w: D.MULTISET(D.INT()), U, "DataTypes.MAP"),
    ("column: interval", lambda w: D.INTERVAL(None), U, "DataTypes.BIGINT"),
]
