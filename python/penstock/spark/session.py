"""Opens Spark sessions with the settings that Penstock needs, and keeps the launcher's notices off the terminal."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from penstock.errors import ConfigurationError
from penstock.job.shipped_files import same_python
from penstock.spark import inside_pyspark
from penstock.spark.class_archive import java_options

_NOTICES = (b"WARNING: Using incubator modules",)


def quiet_py4j() -> None:
    """Keep py4j's notices out of a program's log, which it may have on its standard output; its warnings stay, and so
    does the level that a program has given it."""
    logger = logging.getLogger("py4j")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)


@contextlib.contextmanager
def quiet_start() -> Iterator[None]:
    """Within the block, new processes get a standard error whose lines are forwarded to ours, but for the notices.

    Java prints them before any of its options can say otherwise. The forwarding ends when the last such process does.
    """
    try:
        ours = os.dup(2)
    except OSError:  # no standard error at all
        yield
        return
    reader, writer = os.pipe()
    sys.stderr.flush()
    os.dup2(writer, 2)
    os.close(writer)
    threading.Thread(target=_forward, args=(reader, ours), daemon=True, name="penstock-stderr").start()
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(ours, 2)


def _forward(reader: int, target: int) -> None:
    with contextlib.suppress(OSError), os.fdopen(reader, "rb", buffering=0) as lines, os.fdopen(target, "wb") as out:
        for line in lines:
            if not line.startswith(_NOTICES):
                out.write(line)
                out.flush()


_LOG = logging.getLogger("penstock")

DEFAULT_MASTER = "local[*,4]"
"""All cores, and up to three failures per task: without the 4 a task that lost its Python worker would not be
retried."""

OLDEST, NEWEST = (4, 1), (4, 3)
"""Versions of Spark that Penstock runs on: 4.1 is the first with ``repartitionById``; all that is newer than the newest
that was tried may run, up to 5."""

STATIC = {
    "spark.app.name": "penstock",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.retainedJobs": "100",  # a step is a job, and to find one by its tag Spark looks through all
    "spark.ui.retainedStages": "400",
    "spark.python.worker.reuse": "true",
    inside_pyspark.SOCKET_SETTING: "true",  # saves 35 ms per stage against loopback TCP
    "spark.sql.streaming.checkpointFileManagerClass": inside_pyspark.CHECKPOINT_MANAGER,
}
"""Settings of a session of our own, unless the user sets them."""

RESULT_SHARE = 5
"""A job may send this fraction of the driver's memory to the driver, unless ``spark.driver.maxResultSize`` is set. A
result takes about four times its size there, and one that does not fit makes the job hang for ever; Spark's own limit
is 1 GiB, which is all the memory that its driver has by default."""

LOCAL = {inside_pyspark.DAEMON_SETTING: "penstock.spark.daemon"}
"""Settings of a session of our own where its workers have this Python and this package. With the daemon a worker
takes a tenth of the CPU time to start, and a task 45 ms less."""

JVM_OPTIONS = "-XX:+UseSerialGC"
LOCAL_JVM_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""The quick compiler only, where the JVM lives as long as the program: start-up takes 30 % less CPU, and a job's work
is in Python. ``spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=4`` undoes it."""

PER_JOB = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    "spark.sql.execution.arrow.useLargeVarTypes": "false",  # rows are written with Arrow's plain binary type
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",  # a row is a buffer of up to a mebibyte, not a record
    "spark.sql.execution.arrow.maxBytesPerBatch": "8388608",  # halves what a worker takes, and costs less time
}
"""Settings of the child session of each job, also below a user's session."""

WITH_FRAMES = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",  # a row may be a record; the bytes above are the limit
    "spark.sql.unionOutputPartitioning": "false",  # partitions of several DataFrames stay beside each other
}
"""Settings of the child session of a job that reads DataFrames."""


def open_session(master: str | None, config: Mapping[str, str], python: str | None = None) -> Any:
    """The SparkSession of this process, started if there is none. ``master`` is the Spark master URL; None takes
    ``spark.master`` of the configuration, then that of ``spark-submit`` if it has started this program, then
    :data:`DEFAULT_MASTER`. ``config`` are Spark settings; they win over ours. In a session that runs already they
    are checked here and applied by :func:`job_session`. ``python`` is the Python of the workers, a path or a command;
    None for the environment's PYSPARK_PYTHON, and else the one of this process."""
    check_pyspark()
    settings = {key: value for key, value in config.items() if key != "spark.master"}
    with _STARTING:
        return _opened(master or config.get("spark.master"), settings, python or settings.get("spark.pyspark.python"))


_STARTING = threading.Lock()
"""One thread at a time looks whether there is a session, and starts it."""


def check_pyspark() -> None:
    """See :func:`check_version`, of the PySpark that is installed."""
    import pyspark

    check_version(pyspark.__version__)


def _opened(wanted: str | None, settings: dict[str, str], python: str | None) -> Any:
    remote = os.environ.get("SPARK_REMOTE") if wanted is None else wanted if wanted.startswith("sc://") else None
    if remote:
        return _connected(remote, settings, python)
    running = _running()
    if running is not None:
        _check_master(running, wanted)
        check_settings(running, settings, _started)
        check_python(running, python)
        return running
    if inside_pyspark.submitted():
        return _as_submitted(wanted, settings, python)
    check_java()
    _check_jars(settings.get("spark.jars", ""))
    if python is not None:
        os.environ["PYSPARK_PYTHON"] = python
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # otherwise workers run whatever python3 the path finds
    quiet_py4j()
    session = _start(wanted or DEFAULT_MASTER, settings)
    _started.clear()
    _started.update(settings)
    return session


def _connected(server: str, settings: dict[str, str], python: str | None) -> Any:
    """A session with a server of Spark Connect, which is as it was started."""
    from pyspark.errors import PySparkImportError
    from pyspark.sql import SparkSession

    inside_pyspark.import_quietly(inside_pyspark.LOOKS_FOR_PANDAS, "pyspark.sql.connect.session")
    try:
        session = SparkSession.builder.remote(server).getOrCreate()
    except (ImportError, PySparkImportError) as error:
        if sys.version_info < (3, 11):
            raise ConfigurationError(
                f"The master {server!r} is a server of Spark Connect. Jobs run there from PySpark 4.3 on, which needs "
                "Python 3.11 or newer, and this is Python 3.10. Use a newer Python, or a master of the cluster."
            ) from error
        raise ConfigurationError(
            f"The master {server!r} is a server of Spark Connect, which needs more packages: {error}. Install them: "
            "pip install 'penstock[connect]'."
        ) from error
    check_settings(session, settings)
    check_python(session, python)
    return session


_started: dict[str, str] = {}
"""The settings that the session of our own was started with."""


def _running() -> Any:
    """The session of the Spark that runs in this process, if one does. Without options getOrCreate changes nothing."""
    if not inside_pyspark.runs_here():
        return None
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def _check_master(session: Any, wanted: str | None) -> None:
    running = session.sparkContext.master
    if wanted is not None and wanted != running:
        raise ConfigurationError(
            f"The master {wanted!r} was asked for, but a Spark with the master {running!r} runs in this process "
            "already, and there can be one only. Stop it first, or leave the master out."
        )


def check_settings(session: Any, config: Mapping[str, str], started_with: Mapping[str, str] | None = None) -> None:
    """Refuse settings that cannot be given to one job of a running session; :func:`job_session` applies the others."""
    for key, value in config.items():
        if value in ((started_with or {}).get(key), session.conf.get(key, None)):
            continue
        if not session.conf.isModifiable(key):
            raise ConfigurationError(
                f"The setting {key}={value!r} cannot change while Spark runs, and it runs in this process already. "
                "Set it before the first job, or stop Spark in between."
            )


def check_python(session: Any, python: str | None) -> None:
    """Refuse a Python that the workers of a running session do not have."""
    if python is None:
        return
    try:
        theirs = session.sparkContext.pythonExec
    except Exception:
        theirs = "that of the server"
    if not same_python(theirs, python):
        raise ConfigurationError(
            f"The workers are to run {python!r} (set_python_executable(), spark.pyspark.python), but Spark runs "
            f"already, and the Python of its workers is {theirs!r}. Start Spark with it: set PYSPARK_PYTHON before."
        )


def _as_submitted(wanted: str | None, settings: Mapping[str, str], python: str | None) -> Any:
    """A session on the Spark that ``spark-submit`` has configured: its master, its settings, its log. What the program
    says itself comes first, as for any program of Spark's."""
    from pyspark.sql import SparkSession

    if python is not None:
        os.environ["PYSPARK_PYTHON"] = python
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # as in a Spark of our own
    builder = SparkSession.builder if wanted is None else SparkSession.builder.master(wanted)
    session = builder.config(map=dict(settings)).getOrCreate()
    _started.clear()
    _started.update(settings)
    _limit_results(session)
    return session


def _start(master: str, settings: Mapping[str, str]) -> Any:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    with resources.as_file(resources.files("penstock.spark") / "log4j2.properties") as log:
        jvm = LOCAL_JVM_OPTIONS if master.startswith("local") else JVM_OPTIONS
        same = same_python(os.environ["PYSPARK_PYTHON"], sys.executable)
        local = LOCAL if same and master.partition("[")[0] == "local" else {}
        jvm += java_options() if local else ""
        given = settings.get("spark.driver.extraJavaOptions", "")
        options = f"{jvm} -Dlog4j2.configurationFile={log.as_uri()} {given}".rstrip()
        merged: dict[str, Any] = {**STATIC, **local, **settings, "spark.driver.extraJavaOptions": options}
        inside_pyspark.import_quietly(inside_pyspark.LOOKS_FOR_PANDAS)
        try:
            with quiet_start():
                session = SparkSession.builder.master(master).config(map=merged).getOrCreate()
        except PySparkRuntimeError as error:
            raise ConfigurationError(
                f"Spark did not start with the master {master!r}: {error}. Its own message stands above; usual "
                "causes are a Java older than 17, too little memory, or a wrong setting."
            ) from error
    _limit_results(session)
    return session


def _limit_results(session: Any) -> None:
    """See :data:`RESULT_SHARE`. The settings files of a Spark installation, too, can set limit and memory, so both are
    asked for once Spark has started."""
    conf = inside_pyspark.core_settings(session)
    if not conf.contains("spark.driver.maxResultSize"):
        conf.set("spark.driver.maxResultSize", f"{inside_pyspark.driver_memory(session) // RESULT_SHARE}b")


def _check_jars(jars: str) -> None:
    """Refuse jars that are not there: Spark would only say so in its log."""
    for url in filter(None, jars.split(",")):
        path = url.removeprefix("file://").removeprefix("file:")
        if "://" not in path and not os.path.exists(path):
            raise ConfigurationError(
                f"The jar {url!r} is not there. Correct its path in add_jars(), pipeline.jars or spark.jars."
            )


def check_java() -> None:
    """Refuse to start without Java, in words that help."""
    home = os.environ.get("JAVA_HOME")
    if home and not os.access(os.path.join(home, "bin", "java"), os.X_OK):
        raise ConfigurationError(
            f"JAVA_HOME is {home!r}, but there is no program bin/java in it. Correct or unset JAVA_HOME; Spark needs "
            "Java 17 or newer."
        )
    if not home and shutil.which("java") is None:
        raise ConfigurationError(
            "Spark needs Java 17 or newer, and there is no java on the PATH and no JAVA_HOME. Install it (Debian and "
            "Ubuntu: apt install openjdk-17-jre-headless; macOS: brew install openjdk@17), or run the program "
            "without Spark: --local, or PENSTOCK_EXECUTOR=local."
        )


def session_of(frames: Iterable[Any], given: Any = None) -> Any:
    """The session of the user's in which a job runs: the one that was given, or that of the DataFrames it reads.
    Returns None if there is neither."""
    sessions = [*([] if given is None else [given]), *(frame.sparkSession for frame in frames)]
    sparks = {_spark_of(session) for session in sessions}
    if len(sparks) > 1:
        raise ConfigurationError(
            f"The program reads DataFrames of several Sparks, or its own is another one ({', '.join(sorted(sparks))}). "
            "Make all of them by one SparkSession, and give that to get_execution_environment(spark=…), if any."
        )
    return sessions[0] if sessions else None


def _spark_of(session: Any) -> str:
    """What tells a Spark from others: over Spark Connect, each session is one of its own."""
    name = getattr(session, "session_id", None) if type(session).__module__.startswith("pyspark.sql.connect") else None
    return f"Spark Connect, session {name}" if name else "the Spark of this process"


@cache
def check_version(version: str, what: str = "The PySpark that is installed") -> None:
    """Refuse a Spark that cannot run jobs, before it would lack a method; of one that was not tried the log says so."""
    found = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    if not OLDEST <= found < (NEWEST[0] + 1,):
        raise ConfigurationError(
            f"{what} is {version}, and Penstock runs on Spark {_dotted(OLDEST)} to {_dotted(NEWEST)}. Install one of "
            f"these, pip install 'pyspark>={_dotted(OLDEST)},<{NEWEST[0] + 1}', the version that the cluster has, or "
            "run the program without Spark: --local, or PENSTOCK_EXECUTOR=local."
        )
    if found < NEWEST:
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        newer = "; no newer one is for Python 3.10" if sys.version_info < (3, 11) else ""
        _LOG.warning(
            "%s is %s. Penstock is tested with %s%s (this Python is %s). What Spark Connect needs is in %s only.",
            *(what, version, _dotted(NEWEST), newer, python, _dotted(NEWEST)),
        )


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def check_runs(session: Any) -> None:
    """Refuse a session whose Spark has been stopped, or is of a version that runs no jobs."""
    check_version(_child(session).version, "The Spark of the session")


def job_session(session: Any, config: Mapping[str, str] | None = None, *, like: Any = None) -> Any:
    """A child of the session for one job: adaptive execution off, tracebacks whole. The session itself does not change.
    ``config`` are Spark settings for the child, where they can be set for one job. ``like`` is a session whose
    settings at run time are the child's too, as its DataFrames need; None for none."""
    child = _child(session, like=like)
    wanted = {k: v for k, v in (config or {}).items() if child.conf.isModifiable(k)}
    for key, value in {**wanted, **PER_JOB, **(WITH_FRAMES if like is not None else {})}.items():
        child.conf.set(key, value)
    return child


def _child(session: Any, *, like: Any = None) -> Any:
    try:
        if like is not None and hasattr(like, "cloneSession"):  # Spark Connect
            _ = like.version  # the server makes a session when it is first asked something, and clones none before
            return like.cloneSession()
        child = session.newSession()
        for key, value in ({} if like is None else dict(like.conf.getAll)).items():
            if child.conf.isModifiable(key):
                child.conf.set(key, value)
        return child
    except Exception as error:
        raise ConfigurationError(
            f"The SparkSession cannot run a job; it has probably been stopped ({type(error).__name__}). Give the "
            "executor a session that runs, or none. Sessions of Spark Connect run jobs from Spark 4.3 on."
        ) from error
