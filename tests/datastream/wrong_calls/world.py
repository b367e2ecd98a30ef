"""What wrong calls are made on."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from penstock.common import Configuration, OutputTag, Time, Types, WatermarkStrategy
from penstock.common.data_types import DataTypes as D
from penstock.common.serialization import Encoder, SimpleStringSchema
from penstock.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncRetryStrategy,
    CoMapFunction,
    FileProcessingMode,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    MapStateDescriptor,
    ProcessFunction,
    ReduceFunction,
    SourceFunction,
    StateTtlConfig,
    StreamExecutionEnvironment,
    TimeCharacteristic,
    WindowFunction,
    connectors,
)
from penstock.datastream.formats import CsvSchema, ParquetBulkWriters, ParquetColumnarRowInputFormat
from penstock.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from penstock.plan import StreamGraphBuilder

MODULES = """
common common.typesystem.types common.serialization datastream datastream.connectors datastream.evictor
datastream.formats datastream.schemas datastream.window errors plan runtime.operators.elementwise spark
"""
"""Where the calls of the tables have their names from, and from this module."""
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
SECOND = TumblingEventTimeWindows.of(Time.seconds(1))


class World:
    """An environment and streams of every kind, made when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __getattr__(self, name: str) -> Any:
        if name not in MADE:
            raise AttributeError(name)
        value = MADE[name](self)
        setattr(self, name, value)
        return value

    def run(self, stream: Any) -> Any:
        return stream.execute_and_collect(limit=1)


def _environment(w: World) -> Any:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    return env.set_stream_time_characteristic(TimeCharacteristic.EventTime)


MADE: dict[str, Callable[[World], Any]] = {
    "env": _environment,
    "checkpoints": lambda w: w.env.get_checkpoint_config(),
    "pairs": lambda w: w.env.from_collection([("a", 1)], PAIR),
    "raw": lambda w: w.env.from_collection([("a", 1)]),
    "ints": lambda w: w.env.from_collection([1, 2], Types.INT()),
    "op": lambda w: w.pairs.map(len),
    "keyed": lambda w: w.pairs.key_by(0),
    "windowed": lambda w: w.keyed.window(SECOND),
    "sessions": lambda w: w.keyed.window(EventTimeSessionWindows.with_gap(Time.seconds(1))),
    "both": lambda w: w.pairs.connect(w.ints),
    "rules": lambda w: w.ints.broadcast(MapStateDescriptor("rules")),
    "stranger": lambda w: StreamExecutionEnvironment.get_execution_environment().from_collection([("b", 2)], PAIR),
}
"""What a world has, made when first asked for."""


class Mapper(MapFunction):
    def map(self, value):
        return value


class Reducer(ReduceFunction):
    def reduce(self, value1, value2):
        return value1


class RichReducer(Reducer):
    def open(self, runtime_context):
        """Is never called in a window."""


class Shown(WindowFunction):
    def apply(self, key, window, inputs):
        return list(inputs)


class Counting(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Passing(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator

    def get_result(self, accumulator):
        return accumulator


class Both(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value


class Numbers(SourceFunction):
    def run(self, ctx):
        ctx.collect(1)


class Empty:
    """Has nothing of a function."""


class Shy:
    def map(self):
        """Takes no record."""


class Greedy(ProcessFunction):
    def process_element(self, value, ctx, out):
        out.collect(value)


class Ruled(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(MapStateDescriptor("rules")).put("last", value)


RETRIED = AsyncDataStream.ordered_wait_with_retry
ONCE = AsyncRetryStrategy.fixed_delay(1, 10, None, bool)


class Async:
    async def async_invoke(self, value):
        return [value]


TAG = OutputTag("late", Types.STRING())
TTL = StateTtlConfig.new_builder(Time.hours(1))
LINES = Encoder.simple_string_encoder()
JDBC = connectors.JdbcConnectionOptions.JdbcConnectionOptionsBuilder
MONOTONOUS = WatermarkStrategy.for_monotonous_timestamps()


def rows():
    return connectors.FileSink.for_row_format("out", LINES)


class Assigner:
    def extract_timestamp(self, value, record_timestamp):
        return 0


class Opened(Passing):
    def open(self, runtime_context):
        """Would never be called."""

    def reduce(self, value1, value2):
        return value1


class OpenedMean(Mean):
    def close(self):
        """Would never be called."""


def joined(w):
    return w.pairs.join(w.pairs).where(len).equal_to(len).window(SECOND)


def broadcast_with_ttl(w):
    rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())
    rules.enable_time_to_live(TTL.build())
    w.keyed.connect(w.pairs.broadcast(rules)).process(Ruled())


def two_types(w):
    w.op.get_side_output(TAG)
    w.op.get_side_output(OutputTag("late", Types.INT()))


FIELDS = D.ROW([D.FIELD("word", D.STRING()), D.FIELD("count", D.INT())])
PARQUET = ParquetBulkWriters.for_row_type(FIELDS)
READER = ParquetColumnarRowInputFormat(FIELDS)
TEXT = connectors.StreamFormat.text_line_format()


def csv():
    return CsvSchema.builder().add_string_column("a")


def hadoop(key, value="1"):
    return Configuration().set_string(key, value)


create = StreamExecutionEnvironment.get_execution_environment
HALF = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.PICKLED_BYTE_ARRAY()])


class Frame:
    """What from_spark looks at of a DataFrame."""

    def __init__(self, columns=(), *, streaming=False):
        self.isStreaming = streaming
        self.fields = [{"name": f"c{i}", "type": column} for i, column in enumerate(columns)]

    @property
    def schema(self):
        return self

    def jsonValue(self):
        return {"type": "struct", "fields": self.fields}


NONE = WatermarkStrategy.no_watermarks()


def waiting_for_nothing(w):
    AsyncDataStream.ordered_wait(w.pairs, Async(), 5, 0).print()
    w.env.execute()


def run(env, stream=None):
    if stream is None:
        env.from_collection([1]).print()
    return env.execute()


def client(w):
    w.op.print()
    return w.env.execute_async()


def without_uid(w):
    w.op.print()
    w.env.get_config().disable_auto_generated_uids()
    w.env.get_execution_plan()


def twice(w):
    w.op.print()
    w.env.execute()
    w.env.execute()


def exists(w):
    path = w.folder / "out"
    path.write_text("kept")
    return run(w.env, w.op.write_as_text(str(path)))


def read_file(w, interval):
    return w.env.read_file("in", FileProcessingMode.PROCESS_CONTINUOUSLY, interval)


def timed(w, assigner):
    return w.raw.assign_timestamps_and_watermarks(NONE.with_timestamp_assigner(assigner))


def options(text):
    return Configuration.from_dict({"penstock.storage.options": text})


def builder():
    builder = StreamGraphBuilder()
    builder.add_node(1, "Source", "source")
    return builder


STRINGS = SimpleStringSchema()
SERVERS = {"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": "50", "max.block.ms": "50"}
OFFSETS, RESET = connectors.KafkaOffsetsInitializer, connectors.KafkaOffsetResetStrategy
source, sink, schema = (
    connectors.KafkaSource.builder,
    connectors.KafkaSink.builder,
    connectors.KafkaRecordSerializationSchema.builder,
)


def whole_source(**properties: str) -> Any:
    builder = source().set_properties({**SERVERS, **{k.replace("_", "."): v for k, v in properties.items()}})
    return builder.set_topics("orders").set_value_only_deserializer(STRINGS)


def whole_sink(**properties: str) -> Any:
    builder = sink().set_record_serializer(schema().set_topic("a").set_value_serialization_schema(STRINGS).build())
    for key, value in {**SERVERS, **properties}.items():
        builder.set_property(key.replace("_", "."), value)
    return builder


def read(w: World, builder: Any) -> Any:
    return w.run(w.env.from_source(builder.build(), NONE, "in"))


def write(w: World, builder: Any) -> Any:
    w.pairs.sink_to(builder.build())
    return w.env.execute()


def old() -> connectors.FlinkKafkaConsumer:
    return connectors.FlinkKafkaConsumer("a", STRINGS, SERVERS)


NAMES = {name: value for module in MODULES.split() for name, value in vars(import_module(f"penstock.{module}")).items()}
NAMES |= globals()


def table(name: str) -> dict[str, tuple[Callable[[World], Any], type[BaseException], str]]:
    """The wrong calls of a table by what they are: the call, its error, and what the message says, as a pattern."""
    path = Path(__file__).with_name(f"{name}.tsv")
    rows = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()[1:], 1):
        case, call, error, words = line.split("\t")
        code = compile("\n" * number + f"lambda w: {call}", str(path), "eval")  # messages name the line of the table
        rows[case] = eval(code, NAMES), eval(error, NAMES), words
    return rows
