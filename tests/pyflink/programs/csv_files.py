"""Files of CSV, written by a bulk sink and read again, as PyFlink's documentation shows it."""

import glob
import os
import tempfile

from pyflink.common import Row, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource, OutputFileConfig
from pyflink.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from pyflink.table import DataTypes

schema = (
    CsvSchema.builder()
    .add_number_column("id", number_type=DataTypes.INT())
    .add_string_column("name")
    .add_array_column("list", ",", element_type=DataTypes.STRING())
    .add_boolean_column("flag")
    .add_number_column("share", number_type=DataTypes.DOUBLE())
    .set_column_separator("|")
    .set_null_value("NULL")
    .set_use_header()
    .set_strict_headers()
    .build()
)
row_type = Types.ROW_NAMED(
    ["id", "name", "list", "flag", "share"],
    [Types.INT(), Types.STRING(), Types.OBJECT_ARRAY(Types.STRING()), Types.BOOLEAN(), Types.DOUBLE()],
)
folder = os.path.join(tempfile.mkdtemp(), "out")

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
rows = [
    Row(1, "Ada", ["a", "b"], True, 0.5),
    Row(2, 'says "hi"|to all', [], False, 1e10),
    Row(3, "two\nlines", ["é"], None, None),
]
sink = (
    FileSink.for_bulk_format(folder, CsvBulkWriters.for_schema(schema))
    .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    .with_output_file_config(OutputFileConfig.builder().with_part_prefix("rows").with_part_suffix(".csv").build())
    .build()
)
env.from_collection(rows, row_type).map(lambda row: row, row_type).sink_to(sink)
env.execute("write")
[path] = glob.glob(os.path.join(folder, "rows-*.csv"))
with open(path, newline="") as file:
    print(file.read())

source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), folder).build()
stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "csv")
stream.map(lambda row: f"{row.id} {row.name!r} {row.list} {row.flag} {row.share}", Types.STRING()).print()
env.execute("read")
