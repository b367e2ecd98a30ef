"""Arguments that are no functions: numbers, texts, times, types, tags, descriptors, other streams."""

from __future__ import annotations

from penstock.common import Duration, OutputTag, Row, Time, Types, WatermarkStrategy
from penstock.common.record_types import RowTypeInfo
from penstock.common.serialization import Encoder
from penstock.datastream import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    MemorySize,
    ReducingStateDescriptor,
    SlotSharingGroup,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.datastream import window as windows
from penstock.datastream.connectors import (
    BucketAssigner,
    FileSink,
    JdbcConnectionOptions,
    OutputFileConfig,
    RollingPolicy,
    StreamingFileSink,
)
from penstock.datastream.evictor import CountEvictor, TimeEvictor
from penstock.datastream.schemas import CsvRowSerializationSchema, JsonRowSerializationSchema
from penstock.errors import InvalidProgramError as P
from penstock.errors import MissingMethodError as M
from penstock.errors import TypeInfoError as T
from penstock.errors import UnsupportedError as U
from tests.datastream.wrong_calls.world import SECOND, Both, Mean, Passing, Ruled

TAG = OutputTag("late", Types.STRING())
TTL = StateTtlConfig.new_builder(Time.hours(1))
LINES = Encoder.simple_string_encoder()
ROWS = [
    ("parallelism: zero", lambda w: w.op.set_parallelism(0), P, "set_parallelism"),
    ("parallelism: minus two", lambda w: w.op.set_parallelism(-2), P, "set_parallelism"),
    ("parallelism: float", lambda w: w.op.set_parallelism(2.0), P, "set_parallelism"),
    ("parallelism: none", lambda w: w.op.set_parallelism(None), P, "set_parallelism"),
    ("parallelism: of a serial source", lambda w: w.pairs.set_parallelism(4), P, "set_parallelism"),
    ("parallelism: of a sink", lambda w: w.op.print().set_parallelism("two"), P, "set_parallelism"),
    ("max parallelism: zero", lambda w: w.op.set_max_parallelism(0), P, "set_max_parallelism"),
    ("max parallelism: too much", lambda w: w.op.set_max_parallelism(40_000), P, "set_max_parallelism"),
    ("max parallelism: text", lambda w: w.op.set_max_parallelism("128"), P, "set_max_parallelism"),
    ("buffer timeout: negative", lambda w: w.op.set_buffer_timeout(-7), P, "set_buffer_timeout"),
    ("buffer timeout: time", lambda w: w.op.set_buffer_timeout(Time.seconds(1)), P, "set_buffer_timeout"),
    ("uid: number", lambda w: w.op.uid(5), P, "uid"),
    ("uid: hash", lambda w: w.op.set_uid_hash("my-operator"), P, "set_uid_hash"),
    ("count windows: no size", lambda w: windows.CountTumblingWindowAssigner.of(0), P, "CountTumblingWindowAssigner"),
    ("count windows: slide", lambda w: windows.CountSlidingWindowAssigner.of(3, 0), P, "CountSlidingWindowAssigner"),
    ("count windows: float", lambda w: windows.CountSlidingWindowAssigner.of(3, 1.5), P, "CountSlidingWindowAssigner"),
    (
        "dynamic sessions: gap",
        lambda w: windows.DynamicEventTimeSessionWindows.with_dynamic_gap(5),
        P,
        "with_dynamic_gap",
    ),
    ("cache: of a union", lambda w: w.op.union(w.op).cache(), P, "cache"),
    ("cache: of a keyed stream", lambda w: w.keyed.cache(), P, "cache"),
    ("description: none", lambda w: w.op.set_description(None), P, "set_description"),
    ("description: of a union", lambda w: w.op.union(w.op).set_description("both"), M, "set_description"),
    ("description: of a sink", lambda w: w.op.print().set_description(b"out"), P, "set_description"),
    ("name: number", lambda w: w.op.name(5), P, "name"),
    ("group: number", lambda w: w.op.slot_sharing_group(5), P, "slot_sharing_group"),
    ("group: memory text", lambda w: SlotSharingGroup.builder("g").set_task_heap_memory("1 GB"), P, "of_mebi_bytes"),
    ("group: no heap", lambda w: SlotSharingGroup.builder("g").set_task_heap_memory_mb(0), P, "more than 0"),
    ("group: no cores", lambda w: SlotSharingGroup.builder("g").set_cpu_cores(0), P, "set_cpu_cores"),
    ("group: cores text", lambda w: SlotSharingGroup.builder("g").set_cpu_cores("2"), P, "number of cores"),
    ("group: no gpu", lambda w: SlotSharingGroup.builder("g").set_external_resource("gpu", 0), P, "'gpu'"),
    ("group: half", lambda w: SlotSharingGroup.builder("g").set_cpu_cores(1).build(), P, "set_task_heap_memory_mb"),
    ("group: builder", lambda w: SlotSharingGroup.builder(5), P, "group name"),
    ("group: registered", lambda w: w.env.register_slot_sharing_group("a"), P, "builder"),
    ("memory: negative", lambda w: MemorySize(-1), P, "0 or more"),
    ("memory: text", lambda w: MemorySize("1 GB"), P, "number of bytes"),
    ("group: list", lambda w: w.op.slot_sharing_group(["a"]), P, "slot_sharing_group"),
    ("key_by: no such position", lambda w: w.pairs.key_by(2), P, "key_by"),
    ("key_by: negative position", lambda w: w.raw.key_by(-1), P, "key_by"),
    ("key_by: no such name", lambda w: w.pairs.key_by("word"), P, "key_by"),
    ("key_by: position of a value", lambda w: w.ints.key_by(0), P, "key_by"),
    ("key_by: name of a value", lambda w: w.ints.key_by("f0"), P, "key_by"),
    ("key_by: mixed", lambda w: w.pairs.key_by(0, "f1"), P, "key_by"),
    ("key_by: two functions", lambda w: w.pairs.key_by(len, len), T, "key_by"),
    ("key_by: array", lambda w: w.pairs.key_by(len, Types.PRIMITIVE_ARRAY(Types.BYTE())), P, "key_by"),
    ("sum: name", lambda w: w.keyed.sum("amount"), P, "sum"),
    ("sum: text field", lambda w: w.keyed.sum(0), P, "sum"),
    ("sum: position", lambda w: w.keyed.sum(9), P, "sum"),
    ("sum: function", lambda w: w.keyed.sum(lambda v: v[1]), P, "sum"),
    ("min: none", lambda w: w.keyed.min(None), P, "min"),
    ("max_by: first", lambda w: w.keyed.max_by(1, "first"), P, "max_by"),
    ("window sum: position", lambda w: w.windowed.sum(9), P, "sum"),
    ("project: none", lambda w: w.pairs.project(), P, "project"),
    ("project: position", lambda w: w.pairs.project(7), P, "project"),
    ("project: negative", lambda w: w.raw.project(-1), P, "project"),
    ("project: name", lambda w: w.pairs.project("f0"), P, "project"),
    ("project: list", lambda w: w.pairs.project([0, 1]), P, "project"),
    ("project: of values", lambda w: w.ints.project(0), P, "project"),
    ("union: list", lambda w: w.pairs.union([w.pairs]), P, "union"),
    ("union: none", lambda w: w.pairs.union(None), P, "union"),
    ("union: types", lambda w: w.pairs.union(w.ints), P, "union"),
    ("union: environments", lambda w: w.pairs.union(w.stranger), P, "union"),
    ("union: windows", lambda w: w.pairs.union(w.windowed), P, "union"),
    ("connect: list", lambda w: w.pairs.connect([1]), P, "connect"),
    ("connect: sink", lambda w: w.pairs.connect(w.pairs.print()), P, "connect"),
    ("connect: environments", lambda w: w.pairs.connect(w.stranger), P, "connect"),
    ("connect: keyed and not", lambda w: w.keyed.connect(w.ints).process(Both()), P, "process"),
    ("join: list", lambda w: w.pairs.join([1]), P, "join"),
    ("join: environments", lambda w: w.pairs.join(w.stranger), P, "join"),
    ("join: keys", lambda w: w.pairs.join(w.ints).where(len, Types.INT()).equal_to(abs, Types.LONG()), P, "equal_to"),
    ("join: window", lambda w: w.pairs.join(w.ints).where(len).equal_to(abs).window(Time.seconds(1)), P, "window"),
    ("join: trigger", lambda w: joined(w).trigger("count").apply(max), P, "trigger"),
    ("join: lateness", lambda w: joined(w).allowed_lateness("1 s").apply(max), P, "allowed_lateness"),
    ("co_group: text", lambda w: w.pairs.co_group("other"), P, "co_group"),
    ("interval join: not keyed", lambda w: w.keyed.interval_join(w.pairs), P, "interval_join"),
    ("interval join: bounds", lambda w: w.keyed.interval_join(w.keyed).between("1 s", 5), P, "between"),
    ("interval join: swapped", lambda w: w.keyed.interval_join(w.keyed).between(5, 1).process(max), P, "process"),
    ("window: time", lambda w: w.keyed.window(Time.seconds(5)), P, "window"),
    ("window: class", lambda w: w.keyed.window(windows.TumblingEventTimeWindows), P, "window"),
    ("window: number", lambda w: w.keyed.window(5), P, "window"),
    ("window_all: text", lambda w: w.pairs.window_all("5 s"), P, "window_all"),
    ("count_window: text", lambda w: w.keyed.count_window("5"), P, "count_window"),
    ("count_window: slide", lambda w: w.keyed.count_window(5, 2.5), P, "count_window"),
    ("count_window_all: time", lambda w: w.pairs.count_window_all(Time.seconds(1)), P, "count_window_all"),
    ("time_window: text", lambda w: w.keyed.time_window("5 s"), P, "of"),
    ("tumbling: text", lambda w: windows.TumblingEventTimeWindows.of("5 s"), P, "TumblingEventTimeWindows.of"),
    ("tumbling: float", lambda w: windows.TumblingEventTimeWindows.of(0.5), P, "TumblingEventTimeWindows.of"),
    ("tumbling: zero", lambda w: windows.TumblingEventTimeWindows.of(0), P, "TumblingEventTimeWindows.of"),
    ("tumbling: negative", lambda w: windows.TumblingProcessingTimeWindows.of(Time.seconds(-5)), P, "TumblingProc"),
    ("tumbling: offset", lambda w: windows.TumblingEventTimeWindows.of(5, 9), P, "TumblingEventTimeWindows.of"),
    ("sliding: slide", lambda w: windows.SlidingEventTimeWindows.of(5, 0), P, "SlidingEventTimeWindows.of"),
    ("sliding: none", lambda w: windows.SlidingEventTimeWindows.of(Time.seconds(1), None), P, "SlidingEventTime"),
    ("session: gap", lambda w: windows.EventTimeSessionWindows.with_gap(Time.seconds(-1)), P, "with_gap"),
    ("session: text", lambda w: windows.EventTimeSessionWindows.with_gap("1 s"), P, "with_gap"),
    ("session: dynamic", lambda w: windows.EventTimeSessionWindows.with_dynamic_gap(5), P, "with_dynamic_gap"),
    ("trigger: number", lambda w: w.windowed.trigger(5), P, "trigger"),
    ("trigger: class", lambda w: w.windowed.trigger(windows.CountTrigger), P, "trigger"),
    ("trigger: evictor", lambda w: w.windowed.trigger(CountEvictor.of(5)), P, "trigger"),
    ("trigger: count text", lambda w: windows.CountTrigger.of("5"), P, "CountTrigger.of"),
    ("trigger: purging a number", lambda w: windows.PurgingTrigger.of(5), P, "PurgingTrigger.of"),
    ("trigger: continuous text", lambda w: windows.ContinuousEventTimeTrigger.of("5 s"), P, "ContinuousEventTimeTrig"),
    ("evictor: number", lambda w: w.windowed.evictor(5), P, "evictor"),
    ("evictor: count", lambda w: CountEvictor.of("5"), P, "CountEvictor.of"),
    ("evictor: time", lambda w: TimeEvictor.of("5 s"), P, "TimeEvictor.of"),
    ("lateness: negative", lambda w: w.windowed.allowed_lateness(-1), P, "allowed_lateness"),
    ("lateness: time", lambda w: w.windowed.allowed_lateness(Time.seconds(1)), P, "allowed_lateness"),
    ("late data: text", lambda w: w.windowed.side_output_late_data("late"), P, "side_output_late_data"),
    ("side output: text", lambda w: w.op.get_side_output("late"), P, "get_side_output"),
    ("side output: class", lambda w: w.op.get_side_output(OutputTag), P, "get_side_output"),
    ("side output: two types", lambda w: two_types(w), P, "late"),
    ("tag: none", lambda w: OutputTag(None), P, "OutputTag"),
    ("tag: empty", lambda w: OutputTag(""), P, "OutputTag"),
    ("tag: number", lambda w: OutputTag(5), P, "OutputTag"),
    ("tag: python type", lambda w: OutputTag("late", str), T, "OutputTag"),
    ("watermarks: text", lambda w: w.pairs.assign_timestamps_and_watermarks("monotonous"), P, "assign_timestamps"),
    ("watermarks: lambda", lambda w: w.pairs.assign_timestamps_and_watermarks(lambda v: 1), P, "assign_timestamps"),
    ("watermarks: class", lambda w: w.pairs.assign_timestamps_and_watermarks(WatermarkStrategy), P, "assign_timest"),
    ("watermarks: bound", lambda w: WatermarkStrategy.for_bounded_out_of_orderness("5 s"), P, "for_bounded_out"),
    ("watermarks: negative", lambda w: WatermarkStrategy.for_bounded_out_of_orderness(-5), P, "for_bounded_out"),
    ("watermarks: generator", lambda w: WatermarkStrategy.for_generator(5), P, "for_generator"),
    ("watermarks: idle", lambda w: MONOTONOUS.with_idleness(0), P, "with_idleness"),
    ("watermarks: idle text", lambda w: MONOTONOUS.with_idleness("1 min"), P, "with_idleness"),
    ("assigner: number", lambda w: MONOTONOUS.with_timestamp_assigner(1), P, "with_timestamp_assigner"),
    ("assigner: one argument", lambda w: MONOTONOUS.with_timestamp_assigner(lambda v: 1), P, "with_timestamp_assigner"),
    ("assigner: class", lambda w: MONOTONOUS.with_timestamp_assigner(Assigner), P, "with_timestamp_assigner"),
    ("time: text", lambda w: Time.seconds("5"), P, "Time.seconds"),
    ("time: none", lambda w: Time.minutes(None), P, "Time.minutes"),
    ("time: float", lambda w: Time.seconds(0.5), P, "Time.seconds"),
    ("duration: text", lambda w: Duration.of_seconds("5"), P, "Duration.of_seconds"),
    ("duration: float", lambda w: Duration.of_minutes(0.5), P, "Duration.of_minutes"),
    ("broadcast: text", lambda w: w.pairs.broadcast("rules"), P, "broadcast"),
    ("broadcast: value state", lambda w: w.pairs.broadcast(ValueStateDescriptor("rules")), P, "broadcast"),
    ("broadcast process: lambda", lambda w: w.pairs.connect(w.rules).process(lambda v, c: []), P, "process"),
    ("broadcast process: process", lambda w: w.pairs.connect(w.rules).process(Passing()), P, "process"),
    ("state: number as name", lambda w: ValueStateDescriptor(5), P, "ValueStateDescriptor"),
    ("state: no name", lambda w: ListStateDescriptor(""), P, "ListStateDescriptor"),
    ("state: python type", lambda w: ValueStateDescriptor("last", int), T, "ValueStateDescriptor"),
    ("state: map types", lambda w: MapStateDescriptor("m", str, Types.INT()), T, "MapStateDescriptor"),
    ("state: reducer", lambda w: ReducingStateDescriptor("sum", 5), P, "ReducingStateDescriptor"),
    ("state: swapped", lambda w: ReducingStateDescriptor("sum", Types.INT(), max), T, "ReducingStateDescriptor"),
    ("state: aggregate", lambda w: AggregatingStateDescriptor("mean", max), P, "AggregatingStateDescriptor"),
    ("state: rich reducer", lambda w: ReducingStateDescriptor("sum", Opened()), P, "ReducingStateDescriptor"),
    ("state: rich aggregate", lambda w: AggregatingStateDescriptor("n", OpenedMean()), P, "AggregatingStateDescriptor"),
    ("ttl: number", lambda w: ValueStateDescriptor("last").enable_time_to_live(5), P, "enable_time_to_live"),
    ("ttl: builder", lambda w: ValueStateDescriptor("last").enable_time_to_live(TTL), P, "enable_time_to_live"),
    (
        "ttl: default",
        lambda w: ValueStateDescriptor("n", Types.INT(), 1).enable_time_to_live(TTL.build()),
        P,
        "default",
    ),
    ("ttl: zero", lambda w: StateTtlConfig.new_builder(Time.seconds(0)), P, "StateTtlConfig.new_builder"),
    ("ttl: text", lambda w: StateTtlConfig.new_builder("1 h"), P, "StateTtlConfig.new_builder"),
    ("ttl: negative", lambda w: TTL.set_ttl(-1), P, "set_ttl"),
    ("ttl: update type", lambda w: TTL.set_update_type("OnReadAndWrite"), P, "set_update_type"),
    ("ttl: visibility", lambda w: TTL.set_state_visibility(True), P, "set_state_visibility"),
    ("ttl: event time", lambda w: TTL.set_ttl_time_characteristic("EventTime"), P, "ProcessingTime"),
    ("ttl: clean none", lambda w: TTL.cleanup_incrementally(0, False), P, "cleanup_incrementally"),
    ("ttl: clean by number", lambda w: TTL.cleanup_incrementally(5, 1), P, "cleanup_incrementally"),
    ("ttl: entries", lambda w: TTL.cleanup_in_rocksdb_compact_filter("all"), P, "cleanup_in_rocksdb_compact_filter"),
    ("ttl: compaction", lambda w: TTL.cleanup_in_rocksdb_compact_filter(1, "1 d"), P, "cleanup_in_rocksdb_compact"),
    ("ttl: broadcast", lambda w: broadcast_with_ttl(w), U, "broadcast state 'rules' has a time to live"),
    ("write_as_text: none", lambda w: w.pairs.write_as_text(None), P, "write_as_text"),
    ("write_as_text: empty", lambda w: w.pairs.write_as_text(""), P, "write_as_text"),
    ("write_as_text: mode", lambda w: w.pairs.write_as_text("out", "OVERWRITE"), P, "write_as_text"),
    ("write_as_csv: values", lambda w: w.ints.write_as_csv("out"), P, "write_as_csv"),
    ("write_to_socket: port", lambda w: w.pairs.write_to_socket("localhost", "80"), P, "write_to_socket"),
    ("write_using: text", lambda w: w.pairs.write_using_output_format("csv"), P, "write_using_output_format"),
    ("sink_to: function", lambda w: w.pairs.sink_to(print), P, "sink_to"),
    ("sink_to: none", lambda w: w.pairs.sink_to(None), P, "sink_to"),
    ("sink_to: builder", lambda w: w.pairs.sink_to(rows()), P, r"sink_to.*Call build\(\)"),
    ("add_sink: file sink", lambda w: w.pairs.add_sink(rows().build()), P, "add_sink.*sink_to"),
    ("file sink: no path", lambda w: FileSink.for_row_format(None, LINES), P, "for_row_format"),
    ("file sink: blank", lambda w: FileSink.for_row_format(" ", LINES), P, "for_row_format"),
    ("file sink: charset", lambda w: FileSink.for_row_format("out", "UTF-8"), P, "for_row_format"),
    ("file sink: older one", lambda w: StreamingFileSink.for_row_format("out", None), P, "for_row_format"),
    ("file sink: compact", lambda w: rows().enable_compact(None, None), U, "enable_compact"),
    ("file sink: check", lambda w: rows().with_bucket_check_interval(0), P, "with_bucket_check_interval"),
    ("file sink: check text", lambda w: rows().with_bucket_check_interval("1 s"), P, "with_bucket_check_interval"),
    ("bucket assigner: function", lambda w: rows().with_bucket_assigner(len), P, "with_bucket_assigner"),
    ("bucket assigner: format", lambda w: BucketAssigner.date_time_bucket_assigner(5), P, "date_time_bucket_assigner"),
    (
        "bucket assigner: letter",
        lambda w: BucketAssigner.date_time_bucket_assigner("b"),
        P,
        "date_time_bucket_assigner",
    ),
    ("bucket assigner: week", lambda w: BucketAssigner.date_time_bucket_assigner("YYYY-ww"), U, "date_time_bucket_ass"),
    ("bucket assigner: zone", lambda w: BucketAssigner.date_time_bucket_assigner("yyyy", "Mars"), P, "'Mars'"),
    ("rolling policy: size", lambda w: rows().with_rolling_policy(1024), P, "with_rolling_policy"),
    ("rolling policy: class", lambda w: rows().with_rolling_policy(RollingPolicy), P, "with_rolling_policy"),
    ("rolling policy: own", lambda w: rows().with_rolling_policy(RollingPolicy()), U, "with_rolling_policy"),
    ("rolling policy: zero", lambda w: RollingPolicy.default_rolling_policy(0), P, "default_rolling_policy.*part_size"),
    ("rolling policy: time", lambda w: RollingPolicy.default_rolling_policy(1, -1), P, "rollover_interval"),
    ("rolling policy: text", lambda w: RollingPolicy.default_rolling_policy("1 MB"), P, "default_rolling_policy"),
    ("file config: builder", lambda w: rows().with_output_file_config(OutputFileConfig.builder()), P, r"build\(\)"),
    ("file config: text", lambda w: rows().with_output_file_config(".txt"), P, "with_output_file_config"),
    ("file config: folder", lambda w: OutputFileConfig.builder().with_part_prefix("a/b"), P, "part prefix"),
    ("file config: number", lambda w: OutputFileConfig.builder().with_part_suffix(5), P, "part suffix"),
    ("file config: long", lambda w: OutputFileConfig("a" * 99, "b" * 99), P, "OutputFileConfig"),
    ("encoder: charset", lambda w: Encoder.simple_string_encoder("UTF-9"), P, "simple_string_encoder"),
    ("encoder: UTF-16", lambda w: Encoder.simple_string_encoder("UTF-16"), U, "simple_string_encoder"),
    ("print: number", lambda w: w.pairs.print(5), P, "print"),
    ("collect: limit", lambda w: w.pairs.execute_and_collect(limit=0), P, "execute_and_collect"),
    ("collect: limit text", lambda w: w.pairs.execute_and_collect(limit="5"), P, "execute_and_collect"),
    ("collect: limit as name", lambda w: w.pairs.execute_and_collect(5), P, "execute"),
    ("iterate: text", lambda w: w.pairs.iterate("5 s"), P, "iterate"),
    ("iterate: feedback", lambda w: w.pairs.iterate().close_with(5), P, "close_with"),
    ("iterate: feedback of another", lambda w: w.pairs.iterate().close_with(w.ints), P, "close_with"),
    ("transform: function", lambda w: w.pairs.transform("mine", None, len), P, "transform"),
    ("transform: swapped", lambda w: w.pairs.transform(None, "mine", len), P, "transform"),
    ("types: no parentheses", lambda w: Types.TUPLE([Types.INT]), T, "TUPLE"),
    ("types: not a list", lambda w: Types.ROW(Types.INT()), T, "ROW"),
    ("types: python", lambda w: Types.LIST(int), T, "LIST"),
    ("types: names", lambda w: Types.ROW_NAMED(["a"], [Types.INT(), Types.INT()]), T, "ROW_NAMED"),
    ("types: row of one", lambda w: RowTypeInfo(Types.INT()), T, "RowTypeInfo.*list of types"),
    ("types: row of a class", lambda w: RowTypeInfo([int]), T, "field 0.*parentheses"),
    ("types: names as one text", lambda w: RowTypeInfo([Types.INT()], "a"), T, "RowTypeInfo.*names"),
    ("types: internal form", lambda w: Types.TUPLE([Types.INT()]).to_internal_type(1), T, "internal form.*tuple"),
    ("types: empty tuple", lambda w: Types.TUPLE([]), T, "TUPLE"),
    ("row: mixed", lambda w: Row(1, a=2), T, "Row"),
    ("row: kind", lambda w: Row(1).set_row_kind("INSERT"), T, "set_row_kind"),
    ("row: names", lambda w: Row(1).set_field_names(["a", "b"]), T, "Row"),
    ("row: dict", lambda w: Row(1).as_dict(), T, "names"),
    ("schema: no type", lambda w: JsonRowSerializationSchema.builder().build(), P, "with_type_info"),
    (
        "schema: no row",
        lambda w: CsvRowSerializationSchema.Builder(Types.INT()),
        P,
        "CsvRowSerializationSchema.Builder",
    ),
    ("schema: no form", lambda w: CsvRowSerializationSchema.Builder(Types.ROW([Types.CHAR()])), P, "CSV"),
    ("connector: no url", lambda w: JDBC().build(), P, "with_url"),
    ("connector: number", lambda w: JDBC().with_url(5), P, "with_url"),
]
JDBC = JdbcConnectionOptions.JdbcConnectionOptionsBuilder
MONOTONOUS = WatermarkStrategy.for_monotonous_timestamps()


def rows():
    return FileSink.for_row_format("out", LINES)


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
