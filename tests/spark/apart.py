"""Programs on a Spark that shares nothing with us: ``python -m tests.spark.apart standalone|connect FOLDER``."""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
import venv
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from penstock.common import Configuration, Time, TimestampAssigner, Types, WatermarkStrategy
from penstock.datastream import (
    KeyedProcessFunction,
    MapFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.datastream.connectors import SparkSink
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.errors import JobCancelledError, PenstockError
from penstock.spark import connect_queries, shipped_code
from penstock.spark.session import open_session
from tests.running import INTERPRETED
from tests.spark.bare import Bare
from tests.spark.cluster import BOTH, FAST_JVM, start
from tests.spark.hostile import hostile_texts

HOSTS = "127.0.0.2", "127.0.0.3"
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.driver.extraJavaOptions": FAST_JVM,
    "spark.executor.extraJavaOptions": FAST_JVM,
    **INTERPRETED,
}
TRIES = {"spark.task.maxFailures": "2"}
"""A worker of Python starts anew for each, and loads all that was brought to it."""
WORDS = ["to", "be", "or", "not", "to", "be", "that", "is", "the", "question", "whether", "it", "is", "nobler"] * 20


def where(_: int) -> tuple[Any, ...]:
    """What there is where a task runs."""
    import importlib.util

    import penstock
    from penstock.runtime import native

    modules = [name for name in ("tests", "pandas", "click", "rich") if importlib.util.find_spec(name)]
    return sys.executable, penstock.__file__, native.functions() is not None, modules


class Count(KeyedProcessFunction):
    """How often a key has been seen."""

    def open(self, context: Any) -> None:
        self.seen = context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.seen.update((self.seen.value() or 0) + 1)
        yield value, self.seen.value()


class Shipped(MapFunction):
    """Reads all that a program can ship."""

    def open(self, context: Any) -> None:
        self.model = context.get_distributed_cache().get_file("model")

    def map(self, value: int) -> Any:
        import shipped_module  # type: ignore[import-not-found]
        import shipped_package  # type: ignore[import-not-found]

        numbers = shipped_module.NUMBER, shipped_package.NUMBER
        return value, *numbers, Path("data/words.txt").read_text(), Path(self.model).read_text()


class Times(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: Any) -> int:
        return value


Program = Callable[[StreamExecutionEnvironment], Any]

STRANGE = "a guessed mark behind a line break", "JSON"
"""Of the texts of :mod:`tests.spark.hostile`, as each fails a job of its own; test_failures.py has all of them."""


def words(env: StreamExecutionEnvironment) -> Any:
    ones = env.from_collection(WORDS, type_info=Types.STRING()).map(lambda word: (word, 1))
    return ones.key_by(lambda pair: pair[0]).reduce(lambda one, other: (one[0], one[1] + other[1])).set_parallelism(3)


def state(env: StreamExecutionEnvironment) -> Any:
    return env.from_collection(WORDS, type_info=Types.STRING()).key_by(lambda word: word).process(Count())


def batch(env: StreamExecutionEnvironment) -> Any:
    return words(env.set_runtime_mode(RuntimeExecutionMode.BATCH))


def windows(env: StreamExecutionEnvironment) -> Any:
    timed = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    numbers = env.generate_sequence(0, 999).assign_timestamps_and_watermarks(timed)
    ten = numbers.key_by(lambda number: number % 3).window(TumblingEventTimeWindows.of(Time.milliseconds(100)))
    return ten.reduce(lambda one, other: one + other)


STREAMING: dict[str, Program] = {
    "where": lambda env: env.generate_sequence(1, 4).map(where),
    "words": words,
    "state": state,
    "windows": windows,
}


def together(env: StreamExecutionEnvironment) -> Any:
    """All of these in one job, as each job starts workers of its own."""
    one, *others = [program(env).map(lambda record, name=name: (name, record)) for name, program in STREAMING.items()]
    return one.union(*others)


def streaming(spark: Any, folder: Path) -> Any:
    """Where tasks run, and whether each program gives on Spark what it gives in this process: how many records."""
    results, expected = (by_program(together, **executor) for executor in (spark, {"executor": "local"}))
    same = {name: results[name] == expected[name] and len(results[name]) for name in STREAMING if name != "where"}
    return {"where": results["where"], **same}


def by_program(program: Program, **executor: Any) -> dict[str, list[Any]]:
    records = collected(program, **executor)
    return {name: [record for of, record in records if of == name] for name in STREAMING}


def same(program: Program) -> Callable[[Any, Path], Any]:
    """A program gives on Spark what it gives in this process."""

    def compare(spark: Any, folder: Path) -> Any:
        results, expected = (collected(program, **executor) for executor in (spark, {"executor": "local"}))
        return results == expected and len(results)

    return compare


def collected(program: Program, **executor: Any) -> list[Any]:
    env = StreamExecutionEnvironment.get_execution_environment(**executor).set_parallelism(2)
    with program(env).execute_and_collect() as records:
        return sorted(records, key=repr)


def all_shipped(spark: Any, folder: Path) -> Any:
    folder.mkdir()
    (folder / "shipped_module.py").write_text("NUMBER = 10\n")
    (folder / "model.txt").write_text("weights")
    (folder / "requirements.txt").write_text("shipped-package")
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("words.txt", "to be")
    info = "shipped_package-1.0.dist-info"
    with zipfile.ZipFile(folder / "shipped_package-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("shipped_package.py", "NUMBER = 100\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: shipped-package\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in wheel.namelist()))

    def program(env: StreamExecutionEnvironment) -> Any:
        env.add_python_file(str(folder / "shipped_module.py"))
        env.add_python_archive(str(folder / "data.zip"), "data")
        env.register_cached_file(str(folder / "model.txt"), "model")
        env.set_python_requirements(str(folder / "requirements.txt"), str(folder))
        return env.generate_sequence(1, 4).map(Shipped())

    return collected(program, **spark)


def files(spark: Any, folder: Path) -> Any:
    """What is said of files on each machine's own disk, and whether they are there if they are said to be shared."""
    folder.mkdir()
    (folder / "in.txt").write_text("a\nb\n")

    def run(configuration: Configuration) -> None:
        env = StreamExecutionEnvironment.get_execution_environment(configuration, **spark)
        env.read_text_file(str(folder / "in.txt")).write_as_text(str(folder / "out")).set_parallelism(2)
        env.execute("copies")

    refused = ""
    try:
        run(Configuration())
    except PenstockError as error:
        refused = f"{type(error).__name__}: {error}"
        run(Configuration.from_dict({"penstock.files.shared-folders": str(folder)}))
    written = sorted(line for file in (folder / "out").rglob("*") for line in file.read_text().split())
    return refused.replace(str(folder), ""), written


def tables(spark: Any, folder: Path) -> Any:
    """A table of Spark in, one that Spark writes out, and a stream as a DataFrame."""
    session = spark.get("spark") or open_session(spark["master"], {})
    words = session.range(0, 12, 1, 3).selectExpr("concat('w', id % 3) as word", "id as n")
    env = StreamExecutionEnvironment.get_execution_environment(**spark).set_parallelism(2)
    totals = env.set_runtime_mode(RuntimeExecutionMode.BATCH).from_spark(words).key_by(lambda row: row.word).sum("n")
    marks = folder / "marks"

    def marked(row: Any) -> Any:
        (marks / uuid.uuid4().hex).touch()
        return row

    marks.mkdir(parents=True)
    typed = totals.map(marked, Types.ROW_NAMED(["word", "n"], [Types.STRING(), Types.LONG()]))
    typed.sink_to(SparkSink(format="parquet", path=str(folder / "out")))
    env.execute("tables")
    ran = len(list(marks.iterdir()))
    words.createOrReplaceTempView("words")
    env.from_collection([1], type_info=Types.LONG()).sink_to(
        SparkSink(lambda df: df.sparkSession.table("words").crossJoin(df).write.orc(str(folder / "joined")))
    )
    env.execute("a view")
    joined = session.read.orc(str(folder / "joined")).count()
    frames = session.read.parquet(str(folder / "out")), typed.to_spark()
    return ran, joined, *[sorted(tuple(row) for row in frame.collect()) for frame in frames]


def hostile(spark: Any, folder: Path) -> Any:
    """What is said of records that a stranger has written, and whether one of them ran."""
    folder.mkdir()
    marker, errors = folder / "owned", list[Any]()
    for what, text in hostile_texts(marker).items():
        if what not in STRANGE:
            continue
        env = StreamExecutionEnvironment.get_execution_environment(**spark).set_parallelism(1)
        (folder / "in.txt").write_text(text.strip())
        settings = Configuration.from_dict({"penstock.files.shared-folders": str(folder)})
        env.configure(settings)
        env.read_text_file(str(folder / "in.txt")).map(int, Types.LONG()).name("number").uid("n").print()
        try:
            env.execute("hostile")
        except PenstockError as error:
            cause = type(error.__cause__).__name__
            errors.append([what, type(error).__name__, getattr(error, "uid", str(error)), cause])
    return errors, marker.exists()


def failing(spark: Any, folder: Path) -> Any:
    """What is said where a DataFrame is used whose stream fails; over Connect of a session that was asked nothing."""
    session = (spark.get("spark") or open_session(spark["master"], {})).newSession()
    env = StreamExecutionEnvironment.get_execution_environment(spark=session).set_parallelism(1)
    frame = env.from_collection(["x"]).map(int, Types.LONG()).name("number").to_spark()
    try:
        frame.collect()
    except Exception as error:
        return str(error)
    return "it has not failed"


def cancelled(spark: Any, folder: Path) -> Any:
    """Cancel a job while its tasks run."""
    marker = str(folder)

    def sleeps(value: Any) -> Any:
        Path(marker).touch()
        time.sleep(600)
        return value

    env = StreamExecutionEnvironment.get_execution_environment(**spark)
    env.from_collection([1, 2]).map(sleeps).print()
    client = env.execute_async("sleeps")
    began = time.monotonic()
    while not folder.exists():
        assert time.monotonic() < began + 300, client
        time.sleep(0.05)
    client.cancel().result()
    cancelled = isinstance(client.get_job_execution_result().exception(300), JobCancelledError)
    return cancelled, client.get_job_status().result().name


def lacking(spark: Any, folder: Path) -> Any:
    """What is said of a streaming DataFrame where the server has a Python without packages for it; and the records of
    several files with event time."""
    session = spark.get("spark") or open_session(spark["master"], {})
    settings = Configuration.from_dict({"penstock.step.available-now": "true"})
    env = StreamExecutionEnvironment.get_execution_environment(settings, spark=session)
    env.from_spark(session.readStream.format("rate").load()).print()
    connect_queries._TRIES = 0
    message = failure(env.execute)
    env = StreamExecutionEnvironment.get_execution_environment(spark=session)
    for number in range(2):
        session.range(number, number + 1, 1, 1).write.parquet(str(folder / f"in/{number}"))
    timed = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda row, _: row.id)
    rows = env.from_spark(session.read.parquet(*(str(folder / f"in/{n}") for n in (0, 1))), watermark_strategy=timed)
    with rows.execute_and_collect() as records:
        return message, sorted(row.id for row in records)


def failure(call: Callable[[], object]) -> str:
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "it has not failed"


def killed(spark: Any, folder: Path) -> Any:
    """Kill a worker with its executor, in the middle of the second level; its shuffle files go with it."""
    marker = str(folder)

    def dies(pair: Any) -> Any:
        import signal

        if pair[0] == 700 and os.environ.get("SPARK_HOME"):
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return pair
            pid, jvms = os.getpid(), []
            while len(jvms) < 2:
                pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
                jvms += [pid] * (b"org.apache.spark" in Path(f"/proc/{pid}/cmdline").read_bytes())
            for jvm in reversed(jvms):
                os.kill(jvm, signal.SIGKILL)
        return pair

    def program(env: StreamExecutionEnvironment) -> Any:
        pairs = env.generate_sequence(0, 4999).map(lambda n: (n % 1000, n)).key_by(lambda pair: pair[0])
        return pairs.reduce(lambda one, other: (one[0], one[1] + other[1])).map(dies)

    return same(program)(spark, folder), folder.exists()


def unfit(spark: Any, folder: Path) -> Any:
    """What is said of a Python without PyArrow, and of one that is not there."""
    folder.mkdir()
    venv.create(folder / "empty", symlinks=True)
    context = SparkSession.builder.getOrCreate().sparkContext
    fit, messages = context.pythonExec, []
    for python in (str(folder / "empty/bin/python"), "/no/such/python"):
        context.pythonExec = python
        shipped_code._met.clear()
        try:
            collected(words, **spark)
        except PenstockError as error:
            messages.append(f"{type(error).__name__}: {error}")
    context.pythonExec = fit
    shipped_code._met.clear()
    return messages


PROGRAMS: dict[str, Callable[[Any, Path], Any]] = {
    "streaming": streaming,
    "batch": same(batch),
    "shipping": all_shipped,
    "files": files,
    "cancelled": cancelled,
    "hostile": hostile,
    "failing": failing,
    "tables": tables,
}
STANDALONE = {"unfit": unfit, "killed": killed}
"""Where there are workers; the last one ends one of them."""


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """A master and two workers that cannot see the driver's packages."""
    bare = Bare(folder / "bare")
    with ExitStack() as stack:
        url = start_master(stack, folder)
        for host in HOSTS:
            start_host(stack, folder, bare, host, url)
        os.environ["PYSPARK_PYTHON"] = bare.python
        yield url


def start_master(stack: ExitStack, folder: Path) -> str:
    """Start a master that ends with the stack; its URL."""
    where = "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"
    return start(stack, folder / "master", "master.Master", r"spark://\S+:\d+", *where)


def start_host(stack: ExitStack, folder: Path, bare: Bare, host: str, url: str) -> None:
    """Start a worker of one core, which ends with the stack."""
    size = "--cores", "1", "--memory", "600m", "--work-dir", str(folder / f"work-{host}")
    started = {"environment": bare.environment(), "command": bare.command(f"{bare.spark_home}/bin/spark-class")}
    where = "--host", host, "--webui-port", "0", url
    start(stack, folder / host, "worker.Worker", "Successfully registered", *size, *where, **started)


@contextmanager
def connect(folder: Path) -> Iterator[str]:
    """A server of Spark Connect that cannot see the driver's packages, and has a Penstock of another version."""
    bare = Bare(folder / "bare")
    (bare.site / "penstock").mkdir()
    (bare.site / "penstock/__init__.py").write_text("raise ImportError('of another version')")
    submit = bare.command(f"{bare.spark_home}/bin/spark-submit")
    from tests.spark.connect_server import server  # which needs what only Spark 4.3 and later bring

    with server(folder / "server", submit, bare.environment()) as url:
        yield url


def programs_of(kind: str) -> dict[str, Any]:
    """The programs by name."""
    if kind == "standalone":
        return PROGRAMS | STANDALONE
    from tests.spark.connect_steps import PROGRAMS as CONNECT_STEPS

    return PROGRAMS | {"lacking": lacking, **CONNECT_STEPS}


def main(kind: str, folder: Path, *names: str) -> None:
    """Run all programs, or some: by the master, and in the session that there is then."""
    programs = programs_of(kind)
    with ExitStack() as stack:
        master = stack.enter_context((standalone if kind == "standalone" else connect)(folder))
        if kind == "connect":
            from tests.spark.connect_server import strict

            stack.enter_context(strict())
        session = open_session(master, SETTINGS | BOTH | TRIES if kind == "standalone" else {})
        results = {}
        try:
            for index, name in enumerate(names or programs):
                how = {"spark": session} if index % 2 else {"master": master}
                results[name] = programs[name](how, folder / name)
        finally:
            session.stop()  # a client of Connect waits at its end for a server that is gone
    print(json.dumps(results))


if __name__ == "__main__":
    os.environ |= {"SPARK_HOME": os.path.dirname(pyspark.__file__)}
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
