"""Environments, sources, the order of calls, methods that are elsewhere, programs that cannot run, results."""

from __future__ import annotations

from penstock.common import Configuration, JobID, OutputTag, RestartStrategies, Types, WatermarkStrategy
from penstock.datastream import (
    AsyncDataStream,
    FileProcessingMode,
    FileSystemCheckpointStorage,
    FsStateBackend,
    RocksDBStateBackend,
    RuntimeExecutionMode,
    Source,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors import SparkSink
from penstock.errors import ConfigurationError as C
from penstock.errors import InvalidProgramError as P
from penstock.errors import JobExecutionError as J
from penstock.errors import MissingMethodError as M
from penstock.errors import OperatorIdError as D
from penstock.errors import StreamGraphError as G
from penstock.errors import TypeInfoError as T
from penstock.errors import UnknownNameError as N
from penstock.errors import UnsupportedError as U
from tests.datastream.wrong_calls.world import PAIR, SECOND, Mapper, Numbers

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


ROWS = [
    ("environment: called", lambda w: StreamExecutionEnvironment(), P, "get_execution_environment"),
    ("environment: dict", lambda w: create({"parallelism.default": 2}), P, "get_execution_environment"),
    ("environment: text", lambda w: create("local"), P, "get_execution_environment"),
    ("environment: executor", lambda w: run(create(executor="flink")), C, "flink"),
    ("environment: executor number", lambda w: run(create(executor=5)), C, "executor"),
    ("environment: local with master", lambda w: run(create(executor="local", master="local[2]")), C, "local"),
    ("environment: parallelism", lambda w: w.env.set_parallelism("4"), P, "set_parallelism"),
    ("environment: zero parallelism", lambda w: w.env.set_parallelism(0), P, "set_parallelism"),
    ("environment: max parallelism", lambda w: w.env.set_max_parallelism(10**6), P, "set_max_parallelism"),
    ("environment: buffer timeout", lambda w: w.env.set_buffer_timeout(-2), P, "set_buffer_timeout"),
    ("environment: mode text", lambda w: w.env.set_runtime_mode("BATCH"), P, "set_runtime_mode"),
    ("environment: mode class", lambda w: w.env.set_runtime_mode(RuntimeExecutionMode), P, "set_runtime_mode"),
    ("environment: checkpoints", lambda w: w.env.enable_checkpointing("10 s"), P, "enable_checkpointing"),
    ("environment: short checkpoints", lambda w: w.env.enable_checkpointing(1), P, "enable_checkpointing"),
    ("environment: checkpoint mode", lambda w: w.env.enable_checkpointing(100, "ONCE"), P, "enable_checkpointing"),
    ("environment: time", lambda w: w.env.set_stream_time_characteristic("EventTime"), P, "set_stream_time"),
    ("environment: restarts", lambda w: w.env.set_restart_strategy(3), P, "set_restart_strategy"),
    ("restarts: negative", lambda w: RestartStrategies.fixed_delay_restart(-1, 0), P, "fixed_delay_restart"),
    ("restarts: rate", lambda w: RestartStrategies.failure_rate_restart(0, 60000, 1000), P, "failure_rate_restart"),
    ("restarts: interval", lambda w: RestartStrategies.failure_rate_restart(1, "1 min", 0), P, "interval"),
    ("restarts: text", lambda w: RestartStrategies.fixed_delay_restart("3", 0), P, "fixed_delay_restart"),
    ("from_collection: text", lambda w: w.env.from_collection("words"), P, "from_collection"),
    ("from_collection: number", lambda w: w.env.from_collection(5), P, "from_collection"),
    ("from_collection: none", lambda w: w.env.from_collection(None), P, "from_collection"),
    ("from_collection: dict", lambda w: w.env.from_collection({"a": 1}), P, "from_collection"),
    ("from_collection: stream", lambda w: w.env.from_collection(w.pairs), P, "from_collection"),
    ("from_collection: read before", lambda w: w.env.from_collection(iter([])), P, "from_collection"),
    ("from_collection: python type", lambda w: w.env.from_collection([1], int), T, "from_collection"),
    ("from_collection: text for a number", lambda w: w.env.from_collection(["1"], Types.INT()), T, "from_collection"),
    ("from_collection: too large", lambda w: w.env.from_collection([2**40], Types.INT()), T, "32 bits"),
    ("from_collection: no tuple", lambda w: w.env.from_collection([["a", 1]], PAIR), T, "not a tuple"),
    ("from_collection: mixed", lambda w: w.env.from_collection([(1, 2), 5], Types.ROW([Types.INT()] * 2)), T, "record"),
    ("from_collection: short", lambda w: w.env.from_collection([(1,)], Types.ROW([Types.INT()] * 2)), T, "record"),
    ("generate_sequence: text", lambda w: w.env.generate_sequence("1", 5), P, "generate_sequence"),
    ("generate_sequence: swapped", lambda w: w.env.generate_sequence(5, 1), P, "generate_sequence"),
    ("add_source: class", lambda w: w.env.add_source(Numbers), P, "add_source"),
    ("add_source: list", lambda w: w.env.add_source([1]), P, "add_source"),
    ("add_source: name", lambda w: w.env.add_source(Numbers(), 5), P, "add_source"),
    ("add_source: type", lambda w: w.env.add_source(Numbers(), "numbers", int), T, "add_source"),
    ("read_text_file: blank", lambda w: w.env.read_text_file(""), P, "read_text_file"),
    ("read_text_file: none", lambda w: w.env.read_text_file(None), P, "read_text_file"),
    ("read_text_file: path object", lambda w: w.env.read_text_file(w.folder), P, "read_text_file"),
    ("read_text_file: charset", lambda w: w.env.read_text_file("a.txt", 8), P, "read_text_file"),
    ("read_text_file: no such charset", lambda w: w.env.read_text_file("a.txt", "utf-88"), P, "read_text_file"),
    ("read_text_file: scheme", lambda w: w.run(w.env.read_text_file("ftp://host/a.txt")), U, "ftp"),
    ("read_text_file: only a scheme", lambda w: w.run(w.env.read_text_file("s3://")), C, "names nothing"),
    ("write_as_text: a bucket", lambda w: run(w.env, w.op.write_as_text("s3://bucket")), C, "all of a bucket"),
    ("write_as_text: two kinds", lambda w: two_kinds(w), U, r"local file system .* and to a store"),
    ("storage options: no JSON", lambda w: create(options("key=1")), C, r"penstock\.storage\.options"),
    ("storage options: scheme", lambda w: create(options('{"ftp": {}}')), C, r"penstock\.storage\.options"),
    ("read_text_file: missing", lambda w: w.run(w.env.read_text_file(str(w.folder / "no.txt"))), C, r"no\.txt"),
    ("read_file: interval", lambda w: read_file(w, 0), P, "read_file"),
    ("socket: port", lambda w: w.env.socket_text_stream("localhost", "9999"), P, "socket_text_stream"),
    ("socket: no port", lambda w: w.env.socket_text_stream("localhost", 0), P, "between 1 and 65535"),
    ("socket: delimiter", lambda w: w.env.socket_text_stream("localhost", 9, ""), P, "what stands between texts"),
    ("socket: retries", lambda w: w.env.socket_text_stream("localhost", 9, "|", -2), P, "or -1 for ever"),
    ("read_file: format", lambda w: w.env.read_file("in", input_format="csv"), P, "read_file.*'csv'"),
    ("read_file: mode", lambda w: w.env.read_file("in", "PROCESS_ONCE"), P, "read_file.*'PROCESS_ONCE'"),
    ("create_input: text", lambda w: w.env.create_input("file.csv"), P, "create_input"),
    ("from_source: list", lambda w: w.env.from_source([1, 2], NONE, "in"), P, "from_source"),
    ("from_source: class", lambda w: w.env.from_source(Source, NONE, "in"), P, "from_source"),
    ("from_source: strategy", lambda w: w.env.from_source(Source(), None, "in"), P, "from_source"),
    ("from_source: run", lambda w: w.run(w.env.from_source(Source(), NONE, "in")), U, r"from_source\(\) \(line \d+"),
    ("csv: run", lambda w: run(w.env, w.pairs.write_as_csv("out")), U, r"write_as_csv\(\) \(line \d+"),
    ("execute: async of no capacity", lambda w: waiting_for_nothing(w), P, "capacity=0"),
    ("execute: nothing", lambda w: w.env.execute(), P, "no operators"),
    ("execute: sources only", lambda w: run(w.env, w.pairs), P, "no operators"),
    ("execute: twice", lambda w: twice(w), P, "no operators"),
    ("execute: number", lambda w: w.op and w.env.execute(5), P, "execute"),
    ("execute_async: nothing", lambda w: w.env.execute_async(), P, "no operators"),
    ("execute_async: number", lambda w: w.op and w.env.execute_async(5), P, "job name"),
    ("execute_async: savepoint", lambda w: client(w).trigger_savepoint(5), P, "savepoint_directory"),
    ("execute_async: stop", lambda w: client(w).stop_with_savepoint("a"), P, "advance_to_end_of_event_time"),
    ("job id: text", lambda w: JobID("17"), P, "hex digits"),
    ("plan: nothing", lambda w: w.env.get_execution_plan(), P, "no operators"),
    ("uid: twice", lambda w: run(w.env, w.op.uid("a").map(len).uid("a")), D, "uid"),
    ("output: exists", lambda w: exists(w), C, "out"),
    ("iterate: open", lambda w: run(w.env, w.pairs.iterate().map(len)), P, "close_with"),
    ("forward: parallelism", lambda w: run(w.env, w.pairs.forward().map(len).set_parallelism(3)), G, "parallelism"),
    ("metrics: no such", lambda w: run(w.env, w.op.print()).metrics["no such"], N, "no such"),
    ("metrics: two", lambda w: run(w.env, w.op.map(str).map(len).print()).metrics["Map"], P, "Map"),
    ("run: function of a field", lambda w: w.run(w.raw.map(lambda v: v[7])), J, "Map"),
    ("run: key", lambda w: w.run(w.raw.key_by(lambda v: v[7]).map(len)), J, "key selector of key_by"),
    ("run: no key", lambda w: w.run(w.raw.key_by(lambda v: None).map(len)), J, "key selector of key_by"),
    ("run: key that can change", lambda w: w.run(w.raw.key_by(lambda v: memoryview(b"a")).map(len)), J, "key selector"),
    ("run: list as key type", lambda w: w.run(w.raw.key_by(set).map(len)), J, "key selector of key_by"),
    ("run: field", lambda w: w.run(w.raw.key_by("word").map(len)), J, "word"),
    ("run: flat_map of a number", lambda w: w.run(w.raw.flat_map(len)), J, "iterable"),
    ("run: process returns", lambda w: w.run(w.raw.process(lambda v, c: 5)), J, "iterable"),
    ("run: timestamps", lambda w: w.run(timed(w, lambda v, t: None.x)), J, "timestamp assigner"),
    ("run: partition", lambda w: w.run(w.raw.partition_custom(lambda k, n: n, 0).map(len)), J, "partitioner of"),
    ("from_spark: list", lambda w: w.env.from_spark([1]), P, "no DataFrame"),
    ("from_spark: class", lambda w: w.env.from_spark(Frame), P, "no DataFrame"),
    ("from_spark: no columns", lambda w: w.env.from_spark(Frame([])), P, "without columns"),
    ("from_spark: interval", lambda w: w.env.from_spark(Frame(["interval day"])), U, "'c0' has Spark's type interval"),
    ("from_spark: type", lambda w: w.env.from_spark(Frame(["long"]), Types.STRING()), T, "column 'c0'"),
    ("from_spark: one type", lambda w: w.env.from_spark(Frame(["long"] * 2), Types.LONG()), P, "2 columns"),
    ("from_spark: fields", lambda w: w.env.from_spark(Frame(["long"] * 2), Types.TUPLE([Types.LONG()])), T, "1 fields"),
    ("from_spark: python type", lambda w: w.env.from_spark(Frame(["long"]), int), T, "from_spark"),
    ("from_spark: strategy", lambda w: w.env.from_spark(Frame(["long"]), None, "in", 5), P, "watermark|Watermark"),
    ("from_spark: name", lambda w: w.env.from_spark(Frame(["long"]), None, 5), P, "source name"),
    ("from_spark: local", lambda w: w.run(w.env.from_spark(Frame(["long"]))), U, "local executor"),
    ("to_spark: undeclared", lambda w: w.raw.to_spark(), P, "not declared"),
    ("to_spark: field", lambda w: w.raw.map(str, HALF).to_spark(), P, r"fields \['b'\]"),
    ("to_spark: schema", lambda w: w.raw.to_spark(5), P, "StructType"),
    ("to_spark: schema undeclared", lambda w: w.raw.to_spark(Types.PICKLED_BYTE_ARRAY()), P, "not declared"),
    ("to_spark: local", lambda w: w.pairs.to_spark(), U, "execute_and_collect"),
    ("SparkSink: nothing", lambda w: SparkSink(), P, "where to write"),
    ("SparkSink: number", lambda w: SparkSink(5), P, "no function"),
    ("SparkSink: path", lambda w: SparkSink("out"), P, "path='out'"),
    ("SparkSink: both", lambda w: SparkSink(print, path="out"), P, "a function and a description"),
    ("SparkSink: two places", lambda w: SparkSink(path="out", table="t"), P, "one of the two"),
    ("SparkSink: mode", lambda w: SparkSink(path="out", mode="replace"), P, "'overwrite'"),
    ("SparkSink: options", lambda w: SparkSink(path="out", options=["header"]), P, "dict"),
    ("SparkSink: format", lambda w: SparkSink(path="out", format=""), P, "empty format"),
    ("SparkSink: blank path", lambda w: SparkSink(path=" "), P, "blank"),
    ("SparkSink: undeclared", lambda w: w.raw.sink_to(SparkSink(path="out")), P, "schema="),
    ("SparkSink: local", lambda w: w.pairs.sink_to(SparkSink(path="out")) and w.env.execute(), U, "local executor"),
    ("sink_to: no sink", lambda w: w.pairs.sink_to(5), P, "add_sink"),
    ("missing: camel case", lambda w: w.pairs.keyBy(0), M, r"key_by\(\)"),
    ("missing: misspelt", lambda w: w.pairs.fliter(len), M, r"filter\(\)"),
    ("missing: private", lambda w: w.pairs._sink_to, AttributeError, "_sink_to"),
    ("missing: keyed", lambda w: w.pairs.sum(1), M, r"key_by\(\)"),
    ("missing: window", lambda w: w.pairs.window(SECOND), M, r"key_by\(\)"),
    ("missing: result of a sink", lambda w: w.pairs.print().map(len), M, "stream before"),
    ("missing: uid of a union", lambda w: w.pairs.union(w.pairs).uid("a"), M, "operators only"),
    ("missing: name of a key", lambda w: w.keyed.name("a"), M, "operators only"),
    ("missing: side output", lambda w: w.keyed.get_side_output(OutputTag("a")), M, "operators only"),
    ("missing: trigger of a stream", lambda w: w.keyed.trigger(5), M, r"window\(assigner\)"),
    ("missing: map of windows", lambda w: w.windowed.map(len), M, "function first"),
    ("missing: print of connected", lambda w: w.both.print(), M, "result"),
    ("missing: filter of connected", lambda w: w.both.filter(len), M, "before connect"),
    ("missing: join without where", lambda w: w.pairs.join(w.pairs).window(SECOND), M, "where"),
    ("missing: where without equal_to", lambda w: w.pairs.join(w.pairs).where(len).apply(max), M, "equal_to"),
    ("missing: join without window", lambda w: w.pairs.join(w.pairs).where(len).equal_to(len).apply(max), M, "window"),
    ("missing: interval join", lambda w: w.keyed.interval_join(w.keyed).process(max), M, "between"),
    ("missing: stream of an environment", lambda w: w.env.map(len), M, "from_collection"),
    ("jars: path", lambda w: w.env.add_jars("/a.jar"), P, r"file:///"),
    ("jars: list", lambda w: w.env.add_jars(["file:///a.jar"]), P, "add_jars"),
    ("classpaths: path", lambda w: w.env.add_classpaths("classes"), P, r"file:///"),
    ("missing: pojo types", lambda w: w.env.get_config().register_pojo_type(int), M, "Python objects"),
    ("missing: of a config", lambda w: w.env.get_config().get_nothing, AttributeError, "get_nothing"),
    ("configure: dict", lambda w: w.env.configure({"parallelism.default": 2}), P, "Configuration"),
    ("config: parallelism", lambda w: w.env.get_config().set_parallelism(0), P, "set_parallelism"),
    ("config: interval", lambda w: w.env.get_config().set_auto_watermark_interval(-1), P, "set_auto_watermark"),
    ("config: interval text", lambda w: w.env.get_config().set_task_cancellation_interval("1 s"), P, "1 s"),
    ("config: parameters", lambda w: w.env.get_config().set_global_job_parameters("a:1"), P, "dict"),
    ("config: compression", lambda w: w.env.get_config().set_use_snapshot_compression("yes"), P, "True or False"),
    ("config: no uid", lambda w: without_uid(w), P, r"uid\('…'\)"),
    ("state backend: number", lambda w: w.env.set_state_backend(5), P, "HashMapStateBackend"),
    ("state backend: no folder", lambda w: FsStateBackend(), P, "folder"),
    ("state backend: rocksdb without folder", lambda w: RocksDBStateBackend(), P, "folder"),
    ("state backend: options", lambda w: RocksDBStateBackend("a").set_predefined_options("SSD"), P, "Predefined"),
    ("state backend: threads", lambda w: RocksDBStateBackend("a").set_number_of_transfer_threads(0), P, "1 or more"),
    ("state backend: changelog", lambda w: w.env.enable_changelog_state_backend("yes"), P, "True or False"),
    ("savepoints: folder", lambda w: w.env.set_default_savepoint_directory(w.folder), P, "text"),
    ("checkpoints: interval", lambda w: w.checkpoints.set_checkpoint_interval(1), P, "enable_checkpointing"),
    ("checkpoints: mode", lambda w: w.checkpoints.set_checkpointing_mode("ONCE"), P, "set_checkpointing_mode"),
    ("checkpoints: timeout", lambda w: w.checkpoints.set_checkpoint_timeout(9), P, "at least 10"),
    ("checkpoints: pause", lambda w: w.checkpoints.set_min_pause_between_checkpoints(-1), P, "pause"),
    ("checkpoints: none at a time", lambda w: w.checkpoints.set_max_concurrent_checkpoints(0), P, "at least 1"),
    ("checkpoints: failures", lambda w: w.checkpoints.set_tolerable_checkpoint_failure_number(-1), P, "at least 0"),
    ("checkpoints: fail", lambda w: w.checkpoints.set_fail_on_checkpointing_errors(1), P, "True or False"),
    ("checkpoints: retention", lambda w: w.checkpoints.set_externalized_checkpoint_retention("KEEP"), P, "RETAIN"),
    ("checkpoints: unaligned", lambda w: w.checkpoints.enable_unaligned_checkpoints("no"), P, "True or False"),
    ("checkpoints: aligned", lambda w: w.checkpoints.set_aligned_checkpoint_timeout("1 s"), P, "span of time"),
    (
        "checkpoints: storage",
        lambda w: w.checkpoints.set_checkpoint_storage("file:///a"),
        P,
        "set_checkpoint_storage_dir",
    ),
    ("checkpoints: folder", lambda w: w.checkpoints.set_checkpoint_storage_dir(None), P, "checkpoint_path"),
    ("checkpoints: threshold", lambda w: FileSystemCheckpointStorage("a", 1 << 21), P, "threshold"),
    ("elements: none", lambda w: w.env.from_elements(), P, "from_elements"),
    ("elements: type by position", lambda w: w.env.from_elements(1, 2, type_info=int), T, "from_elements"),
    ("ship: number", lambda w: w.env.add_python_file(5), P, "add_python_file"),
    ("ship: nothing", lambda w: w.env.add_python_file(""), P, "empty"),
    ("ship: comma", lambda w: w.env.add_python_file("a.py,b.py"), P, "','"),
    ("ship: archive", lambda w: w.env.add_python_archive("a.zip#b"), P, "'#'"),
    ("ship: target", lambda w: w.env.add_python_archive("a.zip", 5), P, "add_python_archive"),
    ("ship: requirements", lambda w: w.env.set_python_requirements(["numpy"]), P, "set_python_requirements"),
    ("ship: python", lambda w: w.env.set_python_executable(None), P, "set_python_executable"),
    ("ship: name", lambda w: w.env.register_cached_file("a.txt", "a;b"), P, "';'"),
    ("ship: executable", lambda w: w.env.register_cached_file("a.txt", "a", "yes"), P, "True or False"),
    ("ship: not there", lambda w: w.env.add_python_file("no.py") or run(w.env), C, r"no\.py"),
    ("missing: execute of a stream", lambda w: w.pairs.execute(), M, r"env\.execute"),
    ("keyword: map", lambda w: w.pairs.map(function=len), TypeError, r"map\(\).*'function'"),
    ("keyword: key_by", lambda w: w.pairs.key_by(selector=len), TypeError, r"key_by\(\).*'?selector'?"),
    ("keyword: from_collection", lambda w: w.env.from_collection([1], type=PAIR), TypeError, "from_collection.*'type'"),
    ("keyword: environment", lambda w: create(excutor="local"), TypeError, "get_execution_environment.*'excutor'"),
    ("keyword: too many", lambda w: w.pairs.rebalance(4), TypeError, "rebalance.*2 were given"),
    ("keyword: too few", lambda w: w.pairs.map(), TypeError, "map.*'func'"),
    ("class: map", lambda w: type(w.pairs).map(Mapper()), TypeError, "map.*'func'"),
    ("class: execute", lambda w: StreamExecutionEnvironment.execute(), TypeError, "execute.*'self'"),
]
NONE = WatermarkStrategy.no_watermarks()


class Look:
    async def async_invoke(self, value):
        return [value]


def waiting_for_nothing(w):
    AsyncDataStream.ordered_wait(w.pairs, Look(), 5, 0).print()
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


def two_kinds(w):
    w.op.write_as_text(str(w.folder / "out"))
    return run(w.env, w.op.write_as_text("memory://wrong/out"))


def options(text):
    return Configuration.from_dict({"penstock.storage.options": text})
