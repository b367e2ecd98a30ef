"""Files of every format are read from a store as from a disk."""

from __future__ import annotations

import io

import fsspec
import pytest

from penstock.common import Row, Types
from penstock.datastream.formats import (
    AvroBulkWriters,
    AvroReaderFormat,
    AvroSchema,
    CsvBulkWriters,
    CsvReaderFormat,
    CsvSchema,
    JsonReaderFormat,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from penstock.runtime.io import file_source
from tests.formats.programs import read

KIND = Types.ROW_NAMED(["n", "word"], [Types.LONG(), Types.STRING()])
RECORDS = [Row(n=number, word=f"w{number}") for number in range(1_000)]
CSV = CsvSchema.builder().add_number_column("n").add_string_column("word").build()
AVRO = AvroSchema.parse_string(
    '{"type": "record", "name": "R", "fields": [{"name": "n", "type": "long"}, {"name": "word", "type": "string"}]}'
)


def written(factory) -> bytes:
    out = io.BytesIO()
    writer = factory.create(out)
    writer.add_all(RECORDS)
    writer.finish()
    return out.getvalue()


JSON = "".join(f'{{"n": {row.n}, "word": "{row.word}"}}\n' for row in RECORDS).encode()
FORMATS = {
    "csv": (written(CsvBulkWriters.for_schema(CSV)), CsvReaderFormat.for_schema(CSV)),
    "json": (JSON, JsonReaderFormat.for_row_type(KIND)),
    "avro": (written(AvroBulkWriters.for_generic_record(AVRO)), AvroReaderFormat.for_generic_record(AVRO)),
    "parquet": (written(ParquetBulkWriters.for_row_type(KIND)), ParquetColumnarRowInputFormat(KIND)),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_on_a_store_is_read(bucket, name, monkeypatch):
    monkeypatch.setattr(file_source, "SPLIT_BYTES", 5_000)
    data, file_format = FORMATS[name]
    with fsspec.open(f"{bucket}/in/file.{name}", "wb") as file:
        file.write(data)
    actual = read(file_format, f"{bucket}/in", parallelism=2, splittable=True)
    values = [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in actual]
    assert sorted(values) == [tuple(row) for row in RECORDS]
