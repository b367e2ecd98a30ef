"""Opens Spark sessions with the settings that Penstock needs, and keeps the launcher's notices off the terminal."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import logging
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from penstock.common.extras import pyspark
from penstock.errors import ConfigurationError
from penstock.job.shipped_files import same_python
from penstock.spark import inside_pyspark
from penstock.spark.installation import check_home, check_installed, is_databricks

_NOTICES = (b"WARNING: Using incubator modules",)


@contextlib.contextmanager
def quiet_start() -> Iterator[None]:
    """Within the block, new processes get a standard error whose lines are forwarded to ours, until the last of them
    ends, but for notices that Java prints before any of its options can say otherwise."""

    def forward() -> None:
        with contextlib.suppress(OSError), os.fdopen(reader, "rb", buffering=0) as lines, os.fdopen(ours, "wb") as out:
            for line in lines:
                if not line.startswith(_NOTICES):
                    out.write(line)
                    out.flush()

    try:
        ours = os.dup(2)
    except OSError:  # no standard error at all
        yield
        return
    reader, writer = os.pipe()
    sys.stderr.flush()
    os.dup2(writer, 2)
    os.close(writer)
    threading.Thread(target=forward, daemon=True, name="penstock-stderr").start()
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(ours, 2)


DEFAULT_MASTER = "local[*,4]"
"""All cores, and up to three failures per task, so that a task that lost its Python worker is retried."""

OLDEST, NEWEST = (3, 5), (4, 3)
"""The first Spark whose jobs have tags, and the newest that was tried; later ones may run, up to 5."""

CONNECT = (4, 3)
"""The first Spark whose Spark Connect has sessions for jobs."""

STATIC = {
    "spark.app.name": "penstock",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.retainedJobs": "100",  # a step is a job, and to find one by its tag Spark looks through all
    "spark.ui.retainedStages": "400",
    "spark.python.worker.reuse": "true",
    inside_pyspark.SOCKET_SETTING: "true",  # saves 35 ms per stage against loopback TCP
}
"""Settings of a session of our own, unless the user sets them."""

_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"

RESULT_SHARE = 5
"""A job may send this fraction of the driver's memory to the driver, unless ``spark.driver.maxResultSize`` is set: a
result takes four times its size there, and a job whose result does not fit hangs. Spark's own limit is 1 GiB."""

LOCAL = {inside_pyspark.DAEMON_SETTING: "penstock.spark.daemon"}
"""Settings of a session of our own whose workers have this Python and package: a worker starts in a tenth of the CPU
time, and a task takes 45 ms less."""

JVM_OPTIONS = "-XX:+UseSerialGC"
LOCAL_JVM_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""The quick compiler only, where the JVM lives as long as the program: start-up takes 30 % less CPU."""

_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"

PER_JOB = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    "spark.sql.execution.arrow.useLargeVarTypes": "false",  # rows are written with Arrow's plain binary type
    _ROWS: "256",  # a row is a buffer of up to a mebibyte, not a record
    inside_pyspark.BYTES_SETTING: "8388608",  # halves what a worker takes, and costs less time
}
"""Settings of the child session of each job, also below a user's session."""

WITH_FRAMES = {
    _ROWS: "2000",  # a row may be a record; the bytes above are the limit
    inside_pyspark.UNION_SETTING: "false",  # partitions of several DataFrames stay beside each other
}
"""Settings of the child session of a job that reads DataFrames."""

_FEWER = 8
"""Where nothing limits the bytes of a batch, it has this fraction of the rows."""


def open_session(master: str | None, config: Mapping[str, str], python: str | None = None) -> Any:
    """The SparkSession of this process, started if there is none. ``config`` wins over our settings, and is checked
    only if the session runs. ``master`` is by default that of the configuration or ``spark-submit``, ``python``, of the
    workers, PYSPARK_PYTHON or the one of this process."""
    module = pyspark("A Spark is to be started")
    wanted = master or config.get("spark.master")
    check_installed(module, local=_server(wanted) is None)
    if not is_databricks(module):  # another PySpark beside it, which the check advises, would do harm
        check_version(module.__version__)
    settings = {key: value for key, value in config.items() if key != "spark.master"}
    with _STARTING:
        return _opened(module, wanted, settings, python or settings.get("spark.pyspark.python"))


_STARTING = threading.Lock()
_started: dict[str, str] = {}  # the settings that the session of our own was started with


def _server(wanted: str | None) -> str | None:
    """The server of Spark Connect that is asked for, if it is one."""
    if wanted is None:
        return os.environ.get("SPARK_REMOTE") or None
    return wanted if wanted.startswith("sc://") else None


def _opened(module: Any, wanted: str | None, settings: dict[str, str], python: str | None) -> Any:
    server = _server(wanted)
    if server is not None:
        return _connected(server, settings, python)
    from pyspark.sql import SparkSession

    if inside_pyspark.runs_here():
        session = SparkSession.builder.getOrCreate()  # without options it changes nothing
        running = session.sparkContext.master
        if wanted not in (None, running):
            raise ConfigurationError(
                f"The master {wanted!r} was asked for, but a Spark with the master {running!r} runs in this process "
                "already, and there can be one only. Stop it first, or leave the master out."
            )
        check_settings(session, settings, _started)
        check_python(session, python)
        return session
    submitted = inside_pyspark.submitted()
    if not submitted:
        check_java()
        check_home(module)
        _check_jars(settings.get("spark.jars", ""))
        logger = logging.getLogger("py4j")
        if logger.level == logging.NOTSET:  # its notices do not belong into a program's log
            logger.setLevel(logging.WARNING)
    if python is not None:
        os.environ["PYSPARK_PYTHON"] = python
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # otherwise workers run whatever python3 the path finds
    if submitted:  # the master, the settings and the log are there; what the program says comes first
        builder = SparkSession.builder if wanted is None else SparkSession.builder.master(wanted)
        session = builder.config(map=dict(settings)).getOrCreate()
    else:
        session = _start(wanted or DEFAULT_MASTER, settings)
    _started.clear()
    _started.update(settings)
    inside_pyspark.limit_results(session, RESULT_SHARE)
    return session


def _connected(server: str, settings: dict[str, str], python: str | None) -> Any:
    """A session with a server of Spark Connect, which is as it was started."""
    if inside_pyspark.version() < CONNECT:
        here = ".".join(map(str, inside_pyspark.version()))
        raise ConfigurationError(
            f"The master {server!r} is a server of Spark Connect. Jobs run there from PySpark 4.3 on, which needs "
            f"Python 3.11 or newer, and PySpark {here} is installed. Use a newer one, or a master of the cluster."
        )
    from pyspark.errors import PySparkImportError
    from pyspark.sql import SparkSession

    inside_pyspark.import_quietly("pyspark.sql.connect.session")
    try:
        session = SparkSession.builder.remote(server).getOrCreate()
        if inside_pyspark.has_ended(session):
            session = SparkSession.builder.remote(server).create()
    except (ImportError, PySparkImportError, SystemExit) as error:  # PySpark ends a `python -c` as it ends doctests
        missing = "" if isinstance(error, SystemExit) else f": {error}"
        raise ConfigurationError(
            f"The master {server!r} is a server of Spark Connect, which needs more packages{missing}. Install them: "
            "pip install 'penstock[connect]'."
        ) from error
    check_settings(session, settings)
    check_python(session, python)
    return session


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


def _start(master: str, settings: Mapping[str, str]) -> Any:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    with resources.as_file(resources.files("penstock.spark") / "log4j2.properties") as log:
        jvm = LOCAL_JVM_OPTIONS if master.startswith("local") else JVM_OPTIONS
        same = same_python(os.environ["PYSPARK_PYTHON"], sys.executable)
        local = LOCAL if same and master.partition("[")[0] == "local" else {}
        jvm += java_options() if local else ""
        user_options = settings.get("spark.driver.extraJavaOptions", "")
        options = f"{jvm} -Dlog4j2.configurationFile={log.as_uri()} {user_options}".rstrip()
        versions = {_MANAGER: inside_pyspark.checkpoint_manager(), **inside_pyspark.ancient_dates()}
        merged: dict[str, Any] = {**STATIC, **versions, **local, **settings, "spark.driver.extraJavaOptions": options}
        inside_pyspark.import_quietly()
        try:
            with quiet_start():
                session = SparkSession.builder.master(master).config(map=merged).getOrCreate()
        except PySparkRuntimeError as error:
            raise ConfigurationError(
                f"Spark did not start with the master {master!r}: {error}. Its own message stands above; usual "
                "causes are a Java that is too old, too little memory, or a wrong setting."
            ) from error
    return session


def archive_path() -> Path | None:
    """The file of Spark's classes as the JVM keeps them in memory, for this process's Java and Spark: with it a JVM
    starts in half the CPU time, and without it nothing changes. ``penstock prepare`` makes it. None without a Java that
    says which it is."""
    module = pyspark("Spark's classes are to be kept in a file")
    release = _release_file()
    if release is None:
        return None
    spark = [module.__version__, os.path.dirname(module.__file__ or "")]
    identity = "\0".join([str(release.parent), release.read_text(), *spark])
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "penstock")
    return cache / f"spark-{module.__version__}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.jsa"


def _release_file() -> Path | None:
    """The file in which Java says which it is; None without a Java, or if it has none."""
    java = shutil.which("java")
    home = os.environ.get("JAVA_HOME") or (java and os.path.dirname(os.path.dirname(os.path.realpath(java))))
    release = Path(os.path.realpath(home), "release") if home else None
    return release if release is not None and release.is_file() else None


def java_options() -> str:
    """The option for a JVM to use the archive; "" without one, or with a blank in its path, where Spark would cut."""
    path = archive_path()
    if path is None or not path.is_file() or " " in str(path):
        return ""
    return f" -XX:SharedArchiveFile={path} -Xlog:cds=off -Xlog:cds+dynamic=off"


def _check_jars(jars: str) -> None:
    """Refuse jars that are not there: Spark would only say so in its log."""
    for url in filter(None, jars.split(",")):
        path = url.removeprefix("file://").removeprefix("file:")
        if "://" not in path and not os.path.exists(path):
            raise ConfigurationError(
                f"The jar {url!r} is not there. Correct its path in add_jars(), pipeline.jars or spark.jars."
            )


_JAVAS: tuple[tuple[tuple[int, ...], str, int, float], ...] = (
    ((4, 0), "8, 11 or 17", 8, 17),  # on 21 its Arrow finds no memory
    ((4, 2), "17 or 21", 17, 23),  # on 25 neither its Hadoop nor its Arrow starts
    ((sys.maxsize,), "17 or newer", 17, float("inf")),  # `penstock prepare` looks for Java whatever the version
)
"""Before a version of Spark: which Java it needs, in words and as the oldest and the newest."""


def check_java() -> None:
    """Refuse to start without a Java of Spark's, in words that help."""
    spark = inside_pyspark.version()
    _, javas, oldest, newest = next(row for row in _JAVAS if spark < row[0])
    needs = f"Spark {'.'.join(map(str, spark))} needs Java {javas}"
    home = os.environ.get("JAVA_HOME")
    if home and not os.access(os.path.join(home, "bin", "java"), os.X_OK):
        raise ConfigurationError(
            f"JAVA_HOME is {home!r}, but there is no program bin/java in it. Correct or unset JAVA_HOME; {needs}."
        )
    if not home and shutil.which("java") is None:
        raise ConfigurationError(
            f"{needs}, and there is no java on the PATH and no JAVA_HOME. Install it (Debian and Ubuntu: apt install "
            "openjdk-17-jre-headless; macOS: brew install openjdk@17), or run the program without Spark: --local, or "
            "PENSTOCK_EXECUTOR=local."
        )
    release = _release_file()
    java = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release.read_text(), re.MULTILINE) if release else None
    if release and java and not oldest <= int(java[1]) <= newest:
        raise ConfigurationError(
            f"{needs}, and the one in {str(release.parent)!r} is Java {java[1]}. Set JAVA_HOME to another."
        )


def is_connect(session: Any) -> bool:
    """Whether a session is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def session_of(frames: Iterable[Any], configured: Any = None) -> Any:
    """The session of the user's in which a job runs: ``configured``, or that of the DataFrames it reads; None
    if there is neither."""
    sessions = [*([] if configured is None else [configured]), *(frame.sparkSession for frame in frames)]
    sparks: set[str] = set()
    for session in sessions:
        name = getattr(session, "session_id", None) if is_connect(session) else None  # a Spark of its own
        sparks.add(f"Spark Connect, session {name}" if name else "the Spark of this process")
    if len(sparks) > 1:
        raise ConfigurationError(
            f"The program reads DataFrames of several Sparks, or its own is another one ({', '.join(sorted(sparks))}). "
            "Make all of them by one SparkSession, and give that to get_execution_environment(spark=…), if any."
        )
    return sessions[0] if sessions else None


@cache
def check_version(version: str, what: str = "The PySpark that is installed") -> None:
    """Refuse a Spark that cannot run jobs, or not with this Python, before it would lack something."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    oldest, newest = (".".join(map(str, bound)) for bound in (OLDEST, NEWEST))
    if not OLDEST <= numbers < (NEWEST[0] + 1,):
        raise ConfigurationError(
            f"{what} is {version}, and Penstock runs on Spark {oldest} to {newest}. Install one of these, pip install "
            f"'pyspark>={oldest},<{NEWEST[0] + 1}', the version that the cluster has, or run the program without "
            "Spark: --local, or PENSTOCK_EXECUTOR=local."
        )
    if numbers < (4, 0) and importlib.util.find_spec("distutils") is None:
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise ConfigurationError(
            f"{what} is {version}, which is for Python up to 3.11, and this is Python {python}, which lacks the module "
            "distutils. Use Python 3.10 or 3.11, here and on the workers, or, if the cluster has it, PySpark 4. "
            "setuptools brings the module, too: pip install setuptools."
        )


def check_runs(session: Any) -> None:
    """Refuse a session whose Spark has been stopped, or is of a version that runs no jobs."""
    check_version(_child(session).version, "The Spark of the session")


def job_session(session: Any, config: Mapping[str, str] | None = None, *, like: Any = None) -> Any:
    """A child of the session for one job: adaptive execution off, tracebacks whole, ``config`` where it can be set for
    one job, and the settings of ``like``, as its DataFrames need. A server of Spark Connect may allow none of ours:
    a job is slower then, and its results are the same."""
    child = _child(session, like=like)
    for key, value in (config or {}).items():
        if child.conf.isModifiable(key):
            child.conf.set(key, value)
    settings = {**PER_JOB, **(WITH_FRAMES if like is not None else {})}
    if not inside_pyspark.limits_bytes():
        settings[_ROWS] = str(int(settings[_ROWS]) // _FEWER)
    for key, value in settings.items():
        _set(child, key, value)
    return child


def _set(session: Any, key: str, value: str) -> None:
    """Set one of our own settings."""
    try:
        session.conf.set(key, value)
    except Exception as error:
        needed = key == inside_pyspark.UNION_SETTING and session.conf.get(key, value) != value
        if not is_connect(session) or needed or inside_pyspark.tells_session_ended(str(error)):
            raise
        logging.getLogger("penstock").info("The server does not let the job set %s=%s (%s).", key, value, error)


def _child(session: Any, *, like: Any = None) -> Any:
    try:
        if like is not None and hasattr(like, "cloneSession"):  # Spark Connect
            _ = like.version  # the server makes a session when it is first asked something, and clones none before
            return like.cloneSession()
        child = session.newSession()
        for key, value in ({} if like is None else inside_pyspark.settings_of(like)).items():
            if child.conf.isModifiable(key):
                child.conf.set(key, value)
        return child
    except Exception as error:
        raise ConfigurationError(
            f"The SparkSession cannot run a job; it has probably been stopped ({type(error).__name__}). Give the "
            "executor a session that runs, or none. Sessions of Spark Connect run jobs from Spark 4.3 on."
        ) from error
