"""What connectors give."""

from __future__ import annotations

from typing import IO, Any

from typing_extensions import assert_type

from penstock.common import Row, Types
from penstock.common.data_types import DataTypes
from penstock.common.serialization import Encoder, SimpleStringSchema
from penstock.datastream import DataStreamSink, StreamExecutionEnvironment
from penstock.datastream.connectors import (
    BucketAssigner,
    BulkFormatBuilder,
    FileSink,
    FileSource,
    OutputFileConfig,
    RollingPolicy,
    RowFormatBuilder,
    StreamingFileSink,
)
from penstock.datastream.formats import (
    CsvReaderFormat,
    CsvSchema,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)

env = StreamExecutionEnvironment.get_execution_environment(executor="local")
words = env.from_collection(["a", "b"], type_info=Types.STRING())
rows = env.from_collection([("a", 1)], Types.ROW([Types.STRING(), Types.INT()]))


class ByLength(BucketAssigner[str]):
    def get_bucket_id(self, element: str, context: BucketAssigner.Context) -> str:
        assert_type(context.timestamp(), int | None)
        return f"length={len(element)}/hour={context.current_processing_time() // 3_600_000}"


class Shouted(Encoder[str]):
    def encode(self, element: str, stream: IO[bytes]) -> None:
        stream.write(element.upper().encode())


lines = Encoder.simple_string_encoder()
names = OutputFileConfig.builder().with_part_prefix("word").with_part_suffix(".txt").build()
assert_type(names, OutputFileConfig)

builder = FileSink.for_row_format("words", Shouted())
assert_type(builder, RowFormatBuilder[str])
sink = (
    builder.with_bucket_assigner(ByLength())
    .with_rolling_policy(RollingPolicy.default_rolling_policy(part_size=1 << 20))
    .with_output_file_config(names)
    .build()
)
assert_type(sink, FileSink[str])
assert_type(words.sink_to(sink).name("words"), DataStreamSink[str])

anything = FileSink.for_row_format("rows", lines).with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
assert_type(anything.build(), FileSink[Any])
assert_type(rows.sink_to(anything.build()), DataStreamSink[Row])

older = StreamingFileSink.for_row_format("older", Shouted()).with_output_file_config(names).build()
assert_type(older, StreamingFileSink[str])
assert_type(words.add_sink(older), DataStreamSink[str])

pairs = DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING()), DataTypes.FIELD("count", DataTypes.INT())])
bulk = FileSink.for_bulk_format("pairs", ParquetBulkWriters.for_row_type(pairs))
assert_type(bulk, BulkFormatBuilder[Any])
parquet = bulk.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).with_output_file_config(names).build()
assert_type(parquet, FileSink[Any])
assert_type(rows.sink_to(parquet), DataStreamSink[Row])
schema = CsvSchema.builder().add_string_column("word").add_number_column("count", DataTypes.INT()).build()
assert_type(schema, CsvSchema)
source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), "words").build()
assert_type(source, FileSource[Any])
columns = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(pairs), "pairs").build()
assert_type(columns, FileSource[Any])

assert_type(SimpleStringSchema().deserialize(b"a"), str)
