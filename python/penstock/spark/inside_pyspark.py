"""The parts of pyspark and Spark that Penstock uses and that they do not promise to keep. Each says what happens where
a version does not have it. Nothing here imports pyspark before it is called."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import signal
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from penstock.errors import UnsupportedError

CHECKED = "3.5 to 4.3"
"""The pysparks whose insides these are. ``tests/spark/test_inside_pyspark.py`` looks each up in the installed one."""

DAEMON_SETTING = "spark.python.daemon.module"
"""The module that Spark starts in the place of its own Python daemon. Elsewhere it has no effect."""

SOCKET_SETTING = "spark.python.unix.domain.socket.enabled"
"""Workers talk to the JVM over a Unix domain socket. Before 4.1 it has no effect."""

BYTES_SETTING = "spark.sql.execution.arrow.maxBytesPerBatch"
"""How large Arrow batches for workers are. Before 4.0 it has no effect: see :func:`limits_bytes`."""

UNION_SETTING = "spark.sql.unionOutputPartitioning"
"""Whether partitions of a union lie upon each other. Before 4.1 it has no effect, and they never do."""

CHECKPOINT_MANAGER = "org.apache.spark.sql.execution.streaming{}.FileSystemBasedCheckpointFileManager"
"""The manager of checkpoints that works with any file system; see :func:`checkpoint_manager`."""

WORKER = "pyspark.worker"  # the module that runs in a worker, loaded once by our daemon for all of them

ARCHIVES = ("pyspark.zip", "py4j-", "spark-core_")
"""Archives that Spark puts on the path of its workers, by the beginnings of their names. Others only cost time."""

LOOKS_FOR_PANDAS = "pyspark.testing.utils"
"""The module that pyspark's converters for the JVM import at its first call, and that looks for pandas. Before 4.0 they
do not, and it loads all of pandas."""

WRITER = "org.apache.spark.status.api.v1.JacksonMessageWriter"
"""Writes values as Spark's REST interface does."""

_mappers: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The mapper of :data:`WRITER` by SparkContext: to learn the forms of values takes it milliseconds."""

Serve = Callable[[socket.socket, Callable[[socket.socket], int]], None]

_PANDAS = threading.Lock()
"""Jobs of several threads take turns without the check; otherwise one could put back what another has set."""


@contextlib.contextmanager
def without_pandas() -> Iterator[None]:
    """Within the block plans are built without ``mapInArrow``'s check for pandas. Where a version has it elsewhere, it
    runs, and says what to install. Checked against 3.5 to 4.3."""
    from pyspark.sql.pandas import functions

    with _PANDAS:
        check = getattr(functions, "require_minimum_pandas_version", None)
        if check is None:
            yield
            return
        functions.require_minimum_pandas_version = lambda: None  # type: ignore[attr-defined]
        try:
            yield
        finally:
            functions.require_minimum_pandas_version = check  # type: ignore[attr-defined]


def import_quietly(*modules: str) -> None:
    """Import :data:`LOOKS_FOR_PANDAS` and modules of pyspark without their warning that pandas is too new. A module
    that cannot be imported, or that ends the program instead, as those of Spark Connect may, is left out: who needs it
    says why. Checked against 3.5 to 4.3."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        for module in (*((LOOKS_FOR_PANDAS,) if version() >= (4, 0) else ()), *modules):
            with contextlib.suppress(ImportError, SystemExit):
                importlib.import_module(module)


def version() -> tuple[int, ...]:
    """The first two numbers of the installed pyspark, which are those of its Spark. Checked against 3.5 to 4.3."""
    from pyspark import __version__

    return tuple(map(int, re.findall(r"\d+", __version__)[:2]))


def limits_bytes() -> bool:
    """Whether :data:`BYTES_SETTING` has an effect. Checked against 3.5 to 4.3."""
    return version() >= (4, 0)


def ancient_dates() -> dict[str, str]:
    """Settings with which files have dates before 1582, and times before 1900, as they are. That is so from 4.0 on;
    before, reading and writing them is an error by default. Checked against 3.5 to 4.3."""
    if version() >= (4, 0):
        return {}
    forms = (("parquet", "datetime"), ("parquet", "int96"), ("avro", "datetime"))
    return {
        f"spark.sql.{form}.{kind}RebaseModeIn{way}": "CORRECTED" for form, kind in forms for way in ("Read", "Write")
    }


def checkpoint_manager() -> str:
    """The class of :data:`CHECKPOINT_MANAGER`. Only a streaming query would notice its absence.
    Checked against 3.5 to 4.3."""
    return CHECKPOINT_MANAGER.format(".checkpointing" if version() >= (4, 1) else "")


def batches_of(frame: Any) -> list[Any]:
    """Run a DataFrame; its rows as Arrow batches. Before 4.0 the public ``toArrow`` is not there, but what it calls.
    Checked against 3.5 to 4.3."""
    batches: list[Any] = frame.toArrow().to_batches() if hasattr(frame, "toArrow") else frame._collect_as_arrow()
    return batches


def frame_of(session: Any, table: Any) -> Any:
    """An Arrow table as a DataFrame. Before 4.0 ``createDataFrame`` takes no table, but rows.
    Checked against 3.5 to 4.3."""
    if version() >= (4, 0):
        return session.createDataFrame(table)
    from pyspark.sql.pandas.types import from_arrow_schema

    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return session.createDataFrame(rows, from_arrow_schema(table.schema))


def struct_of(schema: Mapping[str, Any]) -> Any:
    """A schema in the form of its ``jsonValue()`` as pyspark has it. Refused if a type is newer than that, as are
    ``time`` before 4.1 and ``variant`` before 4.0. Checked against 3.5 to 4.3."""
    from pyspark.sql.types import StructType

    try:
        return StructType.fromJson(dict(schema))
    except Exception as error:
        here = ".".join(map(str, version()))
        columns = ", ".join(f"{field['name']} {field['type']}" for field in schema["fields"])
        raise UnsupportedError(
            f"PySpark {here} does not have all the types of the columns {columns}: {error}. Use other ones, texts for "
            "times of day, say, or a newer Spark ('time' came with 4.1)."
        ) from error


def settings_of(session: Any) -> dict[str, str]:
    """What is set in a session. Before 4.0 only the JVM says it. Checked against 3.5 to 4.3."""
    if hasattr(session.conf, "getAll"):
        return dict(session.conf.getAll)
    pairs, settings = session._jsparkSession.conf().getAll().iterator(), {}
    while pairs.hasNext():
        pair = pairs.next()
        settings[pair._1()] = pair._2()
    return settings


def rebound(frame: Any, session: Any) -> Any:
    """A DataFrame of Spark Connect, a plan without results, in a clone of its session. Checked against 3.5 to 4.3."""
    return type(frame)(frame._plan, session)


def empty_frame(session: Any, schema: Any) -> Any:
    """A DataFrame without rows. ``createDataFrame`` would also make the session active. Checked against 3.5 to 4.3."""
    from pyspark.sql import DataFrame

    classic = session._jsparkSession
    return DataFrame(
        classic.createDataFrame(session._jvm.java.util.ArrayList(), classic.parseDataType(schema.json())), session
    )


def scans_files(frame: Any) -> bool:
    """Whether a DataFrame is only made of several files of one folder or list, so that Spark can say from which one a
    row is. The public ``inputFiles`` makes a call per path, and nothing public shows a join.
    Checked against 3.5 to 4.3."""
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves().size()
    return leaves == 1 and len(frame._jdf.inputFiles()) > 1


def runs_here() -> bool:
    """Whether a Spark, or what is left of a stopped one, is in this process: the public ``getActiveSession`` knows one
    thread only, and ``getOrCreate`` would start one. Checked against 3.5 to 4.3."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context is not None


def submitted() -> bool:
    """Whether spark-submit has started this program: the JVM runs, and has the master and all settings.
    Checked against 3.5 to 4.3."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def limit_results(session: Any, share: int) -> None:
    """Let a job send a fraction of the memory of the driver's JVM, unless a limit is set, also by Spark's settings
    files: the public settings are a copy, and ``spark.conf`` mixes in defaults. Checked against 3.5 to 4.3."""
    conf = session.sparkContext._jsc.sc().conf()
    if not conf.contains("spark.driver.maxResultSize"):
        memory = session._jvm.java.lang.Runtime.getRuntime().maxMemory()
        conf.set("spark.driver.maxResultSize", f"{memory // share}b")


def one_machine(master: str) -> bool:
    """Whether a master runs its tasks beside the driver; ``local-cluster[2,1,1024]`` is not documented.
    Checked against 3.5 to 4.3."""
    return master.partition("[")[0] in ("local", "local-cluster")


def executor_hosts(session: Any) -> frozenset[str]:
    """The hosts of Spark's executors and driver, which PySpark's status tracker does not say.
    Checked against 3.5 to 4.3."""
    tracker = session.sparkContext._jsc.sc().statusTracker()
    return frozenset(info.host() for info in tracker.getExecutorInfos())


def jobs_of(context: Any, tag: str) -> list[int]:
    """The jobs of Spark with a tag, which PySpark's status tracker does not know. Checked against 3.5 to 4.3."""
    return list(context._jsc.sc().statusTracker().getJobIdsForTag(tag))


def stages_of(context: Any, job: int) -> list[int]:
    """The stages of a job in the order in which they run, skipped ones too. Checked against 3.5 to 4.3."""
    ids = context._jsc.sc().statusStore().job(job).stageIds()
    return sorted(ids.apply(index) for index in range(ids.size()))


def tasks_of(context: Any, stage: int) -> tuple[str, int, list[dict[str, Any]]]:
    """The status of a stage, how often it was tried before, and its tasks as Spark's REST interface gives them.
    Checked against 3.5 to 4.3."""
    store = context._jsc.sc().statusStore()
    last = store.lastStageAttempt(stage)
    status, tries = last.status().toString(), last.attemptId()
    if status == "PENDING":
        return status, tries, []
    return status, tries, _written(context, store.taskList(stage, tries, 2**31 - 1))


def _written(context: Any, value: Any) -> Any:
    """A value of the JVM as Spark's REST interface writes it, at once and not item by item.
    Checked against 3.5 to 4.3."""
    from py4j.java_gateway import JavaClass

    mapper: Any = _mappers.get(context)
    if mapper is None:  # to find the class by its package the JVM would look into all its archives
        writer: Any = JavaClass(WRITER, context._gateway._gateway_client)
        mapper = _mappers[context] = writer().mapper()
    return json.loads(mapper.writeValueAsString(value))


def release(session: Any) -> None:
    """End a session of Spark Connect that is not the user's. The public ``stop`` would also end a server that this
    process started. Where a version has it elsewhere, the server ends idle sessions. Checked against 3.5 to 4.3."""
    with contextlib.suppress(Exception):
        session.client.release_session()
        session.client.close()


def end_jvm(seconds: float) -> None:
    """End the JVM of this process, which outlives Spark, by ending its standard input, and wait.
    Checked against 3.5 to 4.3."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(seconds)


def fork_workers(serve: Serve, kill: Callable[[int], None]) -> None:
    """Do as Spark's own daemon, in this process: fork workers until Spark is gone. ``serve`` runs a worker's tasks, in
    its process, given the connection and what runs a task that comes on one. ``kill`` kills the worker of the
    connection that was made for a process. Where a version has them elsewhere, they are not called. Over TCP, before
    4.1 or if :data:`SOCKET_SETTING` is off, Spark is known by a secret first. Checked against 3.5 to 4.3."""
    from pyspark import daemon

    run: Any = getattr(daemon, "worker", None)
    if run is not None and os.environ.get("SPARK_REUSE_WORKER"):

        def worker(connection: socket.socket, authenticated: bool) -> int:
            if authenticated or connection.family == socket.AF_UNIX or _is_spark(connection):
                serve(connection, lambda task: run(task, True))
            return 1

        daemon.worker = worker  # type: ignore[assignment]
        daemon.os = _Killing(kill)  # type: ignore[assignment]
    daemon.manager()


def _is_spark(connection: socket.socket) -> bool:
    """Whether who has made a TCP connection knows the secret, and say so: the work of Spark's daemon before the first
    task. Checked against 3.5 to 4.3."""
    secret = os.environ["PYTHON_WORKER_FACTORY_SECRET"].encode()
    expected = len(secret).to_bytes(4, "big") + secret
    known = connection.recv(len(expected), socket.MSG_WAITALL) == expected
    answer = b"ok" if known else b"err"
    connection.sendall(len(answer).to_bytes(4, "big") + answer)
    return known


class _Killing:
    """The module ``os`` for a daemon, but for how it kills a worker."""

    def __init__(self, kill: Callable[[int], None]) -> None:
        self._kill = kill

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def kill(self, process: int, number: int) -> None:
        if number == signal.SIGKILL:
            self._kill(process)
        else:
            os.kill(process, number)


_SESSION_ENDED = ("INVALID_HANDLE.SESSION_", "NO_ACTIVE_SESSION")
"""Parts of the text of a failure of Spark Connect whose session the server has ended, or that was restarted since."""


_STOPPED = ("stopped SparkContext", "SparkContext was shut down", "UNAVAILABLE", "RETRIES_EXCEEDED")
"""Parts of the text of a failure of a server of Spark Connect that stops or is gone."""

_STOPPING = 60.0
"""Seconds that a server may take to stop."""


def has_ended(session: Any, *, failed: bool = False) -> bool:
    """Whether a server of Spark Connect has ended a session. A call; if the session has ``failed``, a small job, as a
    server that stops still answers calls. While it stops, or is not there, this waits, as pyspark's client does, for
    some minutes. Checked against 3.5 to 4.3."""
    until = time.monotonic() + _STOPPING
    while True:
        try:
            if failed:
                session.range(1).count()
            else:
                session.conf.get(BYTES_SETTING, None)
            return False
        except Exception as error:
            if tells_session_ended(str(error)):
                return True
            if time.monotonic() > until or not is_stopped(str(error)):
                raise
        time.sleep(1)


def tells_session_ended(text: str) -> bool:
    """Whether a failure is one of a session that the server has ended. Checked against 3.5 to 4.3."""
    return any(sign in text for sign in _SESSION_ENDED)


def is_stopped(text: str) -> bool:
    """Whether a failure is one of a server that stops or is gone. Checked against 3.5 to 4.3."""
    return any(sign in text for sign in _STOPPED)


def was_slow(text: str) -> bool:
    """Whether Spark has waited ten seconds for a process of Python on its driver, which is slow, or has ended.
    Checked against 3.5 to 4.3."""
    return "Python worker failed to connect back" in text


def query_failure(error: Exception) -> str | None:
    """The error of a function of ``foreachBatch`` on a server of Spark Connect, in a line; None for another failure.
    Spark gives the traceback of its process. Checked against 3.5 to 4.3."""
    _, inside, traceback = str(error).partition("foreachBatch Python process: ")
    lines = traceback.partition("\nJVM stacktrace:")[0].splitlines()
    last = max((index for index, line in enumerate(lines) if line.startswith("  File ")), default=-1)
    line = next((line for line in lines[last + 1 :] if line.strip() and not line.startswith("  ")), "")
    return line.rpartition("exceptions.connect.")[2].rstrip(". ") if inside and line else None


_LOST = (
    "Python worker exited unexpectedly",
    "ExecutorLostFailure",
    "FetchFailed",
    "indeterminate output was failed and retried",  # shuffle files, when tasks of the last stage had ended already
    *_SESSION_ENDED,
)
"""Parts of the text of a job of Spark 4.3 that failed because a process, shuffle files or its session were lost."""

_NO_WORKER = "PythonWorkerFactory.create("
"""The call in Spark's stack that gets a worker from the Python daemon. It fails where the daemon, or the worker that it
has forked, dies before they know each other, and where there is no such Python at all."""


def lost_tasks(text: str) -> bool:
    """Whether a job of Spark has failed by what was lost, and not by what its tasks did. Checked against 3.5 to 4.3."""
    return any(sign in text for sign in (*_LOST, _NO_WORKER))


def lost(text: str) -> str:
    """A line for such a failure, without Java's stack, which the cause of the error has. Checked against 3.5 to 4.3."""
    lines = (line.strip() for line in text.splitlines())
    line = next((line for line in lines if any(sign in line for sign in _LOST)), "")
    where = min((at for at in map(line.find, _LOST) if at >= 0), default=0)
    why = line[where : where + 200].rstrip(" .:")
    if not why:
        why = "its server stops" if is_stopped(text) else "Python's daemon, or a worker of it, ended while it started"
    return f"Spark has lost the session, a process that ran tasks, or what they had sent ({why})."
