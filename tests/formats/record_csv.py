"""Records what the real PyFlink makes of the CSV files of :mod:`tests.formats.csv_cases`, and what it writes."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("csv_flink.json")


def read(env: Any, schema: Any, text: str) -> Any:
    """The records of a file as texts, or the class of the error."""
    from pyflink.common import Types, WatermarkStrategy
    from pyflink.datastream.connectors.file_system import FileSource
    from pyflink.datastream.formats.csv import CsvReaderFormat

    path = Path(tempfile.mkdtemp(), "file.csv")
    path.write_text(text, newline="")
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), str(path)).build()
    try:
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "csv")
        with stream.map(repr, Types.STRING()).execute_and_collect() as records:
            return list(records)
    except Exception as error:
        causes = re.findall(r"Caused by: ([\w.$]*)", str(error))
        return {"error": causes[-1] if causes else type(error).__name__}


def write(env: Any, schema: Any, records: list[tuple[Any, ...]]) -> str:
    from pyflink.common import Row, Types
    from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink
    from pyflink.datastream.formats.csv import CsvBulkWriters

    types = {"STRING": Types.STRING(), "BIGINT": Types.LONG(), "DECIMAL": Types.BIG_DEC()}
    types |= {"BOOLEAN": Types.BOOLEAN(), "DOUBLE": Types.DOUBLE(), "FLOAT": Types.FLOAT(), "INT": Types.INT()}

    def of(data_type: Any) -> Any:
        name = type(data_type).__name__.removesuffix("Type").upper().replace("VARCHAR", "STRING")
        return Types.OBJECT_ARRAY(of(data_type.element_type)) if name == "ARRAY" else types[name]

    fields = schema._row_type.fields
    row_type = Types.ROW_NAMED([field.name for field in fields], [of(field.data_type) for field in fields])
    folder = tempfile.mkdtemp()
    builder = FileSink.for_bulk_format(folder, CsvBulkWriters.for_schema(schema))
    sink = builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()
    stream = env.from_collection([Row(*record) for record in records], row_type)
    stream.map(lambda row: row, row_type).sink_to(sink)
    env.execute()
    [path] = Path(folder).iterdir()
    return path.read_bytes().decode()


def main() -> None:
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.datastream.formats.csv import CsvSchema
    from pyflink.table import DataTypes

    sys.path.insert(0, str(FILE.parent))
    from csv_cases import READ, WRITE

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)

    def built(schema: Any) -> Any:
        return schema(CsvSchema.builder(), DataTypes).build()

    results = {"read": {name: read(env, built(schema), text) for name, (schema, text) in READ.items()}}
    results["write"] = {name: write(env, built(schema), records) for name, (schema, records) in WRITE.items()}
    FILE.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
