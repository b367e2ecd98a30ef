"""Bringing to the workers, by Spark's own means, what they lack: a program's archive, and Penstock itself.

Workers are asked once per Spark, by functions made inside others: these are pickled whole, not by the name of a module.
Spark unpacks an archive into a folder on their path: so one with the files of a package *is* the package there, native
code included. It is the same to the byte whenever the files are.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import logging
import os
import struct
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.common.jobs.job_control import JobControl
from penstock.errors import ConfigurationError
from penstock.job.locations import private_paths, refuse_local
from penstock.job.shipped_files import archives, same_python
from penstock.spark import inside_pyspark
from penstock.spark.failures import advice
from penstock.spark.frames import text_of
from penstock.spark.spark_job import cancellable, context_of

if TYPE_CHECKING:
    from penstock.job.deployment import Deployment

_LOG = logging.getLogger("penstock")

PACKAGES = ("penstock", "cloudpickle")
"""The packages that travel: this one, and that which unpickles functions. PyArrow is large, PySpark is Spark's own."""

VERSION = "shipped_version.txt"  # a file that says which version it is: a package that is only unpacked has no metadata

TASKS = 8  # of the job that asks, where nobody says how many tasks there can be at a time

MOST_TASKS = 64

_LEFT_OUT = ("__pycache__", "_stubs")
_NATIVE = (".so", ".dylib", ".pyd")
_DATE = (1980, 1, 1, 0, 0, 0)


def ship(session: Any, archive: Path | None) -> None:
    """Have Spark bring an archive wherever it runs a task, once."""
    if archive is None:
        return
    spark = context_of(session)
    if spark is None:  # files of a session of Connect are artifacts
        session.addArtifacts(str(archive), file=True)
    elif all(file.rpartition("/")[2] != archive.name for file in spark.listFiles):
        spark.addFile(str(archive))


_met: dict[str, frozenset[Worker]] = {}
"""The workers by the Spark, or by the session of Spark Connect, that they were asked for in."""
_ASKING = threading.Lock()  # one job at a time asks


def equip(session: Any, parent: Any, control: JobControl) -> frozenset[Worker]:
    """Have the tasks of a session import this Penstock. If workers may have another Python, a small job asks them, once
    per Spark; if they have no Penstock or another one, it is sent. Returns the workers that were asked."""
    spark = context_of(session)
    if spark is not None and inside_pyspark.one_machine(spark.master) and same_python(spark.pythonExec, sys.executable):
        return frozenset()
    workers = _asked(session, spark, parent, control)
    packages = lacking(workers)
    native = "penstock" in packages and _same_platform(workers)
    for package in packages:
        _bring(session, spark, package, archive_of(package, native))
    return workers


def _bring(session: Any, spark: Any, package: str, archive: Path) -> None:
    """Have Spark unpack an archive as the folder of a package, which its workers find on their path."""
    place = f"{archive}#{package}"
    if spark is None:
        session.addArtifacts(place, archive=True)
    elif all(known.rpartition("/")[2] != f"{archive.name}#{package}" for known in spark.listArchives):
        _LOG.info("Spark brings %s to its workers, whose Python has another one or none (%s).", package, archive.name)
        spark.addArchive(place)


def check_places(session: Any, deployment: Deployment, workers: Iterable[Worker] = ()) -> None:
    """Refuse paths of each machine's own where the tasks of a job run on several, or may. Called before each step, as
    executors come at any time. A call of Spark."""
    spark, settings = context_of(session), deployment.job.settings
    if spark is not None and inside_pyspark.one_machine(spark.master):
        return
    locations = deployment.locations
    if deployment.keeps:
        single = not deployment.steps and settings.checkpoint_directory is None
        name = "state.savepoints.dir" if single else "checkpoint directory"
        locations = (*locations, (name, deployment.place or tempfile.gettempdir()))
    if next(private_paths(locations, settings.shared_folders), None) is None:
        return
    if spark is not None:
        hosts = inside_pyspark.executor_hosts(session)
    else:
        hosts = frozenset(worker.host for worker in workers) | {this_one().host}
    more = spark is not None and spark.getConf().get("spark.dynamicAllocation.enabled", "false").lower() == "true"
    refuse_local(locations, hosts, settings.shared_folders, more=more)


def _asked(session: Any, spark: Any, parent: Any, control: JobControl) -> frozenset[Worker]:
    key = parent.session_id if spark is None else spark.applicationId
    with _ASKING:
        if key not in _met:
            try:
                with cancellable(session, control):
                    _met[key] = workers_of(session, TASKS if spark is None else spark.defaultParallelism)
            except Exception as error:
                control.check()
                what = advice(str(error)) or f"{text_of(error)}."
                raise ConfigurationError(
                    f"Spark cannot run tasks: {what} The page docs/clusters.md says what its workers need."
                ) from error
        return _met[key]


def lacking(workers: Iterable[Worker]) -> tuple[str, ...]:
    """The packages that have to be sent, because some worker has none, or another Penstock."""
    if any(worker.sources != own_sources() for worker in workers):
        return PACKAGES
    return () if all(worker.cloudpickle for worker in workers) else PACKAGES[1:]


def _same_platform(workers: Iterable[Worker]) -> bool:
    """Whether native code of this machine can run on all workers; if not, the log says so."""
    here = this_one().platform
    others = sorted({worker.platform for worker in workers} - {here})
    if others and has_native():
        _LOG.warning(
            "Penstock is sent to workers on %s without its native code, which is for %s: they run its Python code, "
            "with the same results. With the package installed there, and native code in it, they are faster.",
            " and ".join(others),
            here,
        )
    return not others


@cache
def own_sources() -> str:
    """The hash of the Python files of this Penstock."""
    return sources_of()(str(_folder_of("penstock")))


def has_native() -> bool:
    """Whether this Penstock has native code."""
    return any(name.endswith(_NATIVE) for name in os.listdir(_folder_of("penstock")))


@cache
def archive_of(package: str, native: bool) -> Path:
    """The archive of a package, made once per process. About half a second with native code, 5 MB."""
    import penstock

    contents = _contents(_folder_of(package), native)
    if package == "penstock":
        with contextlib.suppress(PackageNotFoundError):  # a source tree that was never installed
            contents[VERSION] = penstock.__version__.encode()
    digest = hashlib.sha256()
    for name, data in contents.items():
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    target = archives() / f"{package}-{digest.hexdigest()[:16]}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, data in contents.items():
            info = zipfile.ZipInfo(name, _DATE)
            info.external_attr = 0o644 << 16
            file.writestr(info, data, zipfile.ZIP_DEFLATED, 1)
    return target


def _contents(folder: Path, native: bool) -> dict[str, bytes]:
    """The files of a package by their names within, in order."""
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        wanted = path.is_file() and path.suffix != ".pyi" and not set(_LEFT_OUT).intersection(name.parts)
        if wanted and (native or not path.name.endswith(_NATIVE)):
            files[name.as_posix()] = path.read_bytes()
            if path.suffix == ".py" and (bytecode := _bytecode(path)) is not None:
                compiled = f"{name.stem}.{sys.implementation.cache_tag}.pyc"
                files[name.with_name("__pycache__").joinpath(compiled).as_posix()] = bytecode
    return files


def _bytecode(path: Path) -> bytes | None:
    """The bytecode that Python has kept of a file when it imported it here, if it is fresh. With it no worker compiles
    Penstock, which takes seconds in each session of Spark Connect. It is marked as valid wherever it is unpacked
    (PEP 552); another version of Python ignores it."""
    facts = path.stat()
    head = MAGIC_NUMBER + struct.pack("<III", 0, int(facts.st_mtime) & 0xFFFFFFFF, facts.st_size & 0xFFFFFFFF)
    with contextlib.suppress(OSError, NotImplementedError):
        data = Path(cache_from_source(str(path))).read_bytes()
        if data.startswith(head):
            return MAGIC_NUMBER + struct.pack("<IQ", 1, 0) + data[len(head) :]
    return None


def _folder_of(package: str) -> Path:
    file = importlib.import_module(package).__file__
    folder = Path(file or "").parent
    if not (folder / "__init__.py").is_file():
        raise ConfigurationError(
            f"The workers of Spark lack {package}, and it cannot be sent to them: here it is imported from {file!r}, "
            "which is not a folder. Install it on the workers, or install it here as a folder, with pip."
        )
    return folder


@dataclass(frozen=True)
class Worker:
    """A Python of Spark's workers."""

    host: str
    platform: str  # operating system and processor, which native code is made for
    python: str
    executable: str
    sources: str | None  # what the Python files of its Penstock are; None without one
    cloudpickle: bool


def sources_of() -> Callable[[str], str]:
    """A function that hashes the Python files in a folder and below."""

    def sources(folder: str) -> str:
        import hashlib
        import os

        digest = hashlib.sha256()
        paths = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".py"))
        for path in sorted(paths):
            name = os.path.relpath(path, folder)
            with open(path, "rb") as file:
                digest.update(f"{name}\0".encode() + file.read() + b"\0")
        return digest.hexdigest()

    return sources


def asked() -> Callable[[], dict[str, Any]]:
    """A function that says what the Python it runs in is, and has: the attributes of :class:`Worker`."""
    sources = sources_of()

    def answer() -> dict[str, Any]:
        import importlib.util
        import os
        import platform
        import socket
        import sys

        spec = importlib.util.find_spec("penstock")
        origin = None if spec is None else spec.origin
        return {
            "host": socket.gethostname(),
            "platform": f"{sys.platform} {platform.machine()}",
            "python": platform.python_version(),
            "executable": sys.executable,
            "sources": sources(os.path.dirname(origin)) if origin and os.path.exists(origin) else None,
            "cloudpickle": importlib.util.find_spec("cloudpickle") is not None,
        }

    return answer


def this_one() -> Worker:
    """The Python of this process."""
    return Worker(**asked()())


def workers_of(session: Any, tasks: int) -> frozenset[Worker]:
    """The different Pythons that tasks of a session meet. A job of one stage."""
    answer = asked()

    def what_workers_have(batches: Iterable[Any]) -> Iterator[Any]:
        import json

        import pyarrow

        for _ in batches:
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([json.dumps(answer())])], names=["found"])

    number = max(2, min(tasks, MOST_TASKS))
    frame = session.range(0, number, 1, number)
    with inside_pyspark.without_pandas():
        frame = frame.mapInArrow(what_workers_have, "found string")
    texts = {text for batch in inside_pyspark.batches_of(frame) for text in batch.column("found").to_pylist()}
    return frozenset(Worker(**json.loads(text)) for text in texts)
