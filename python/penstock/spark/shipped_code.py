"""Bringing to the workers, by Spark's own means, what they lack: a program's archive, and Penstock itself."""

from __future__ import annotations

import contextlib
import logging
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.common.jobs.job_control import JobControl
from penstock.errors import ConfigurationError
from penstock.job.locations import private_paths, refuse_local
from penstock.job.shipped_files import same_python
from penstock.spark import inside_pyspark
from penstock.spark.failures import advice
from penstock.spark.frames import told
from penstock.spark.job_tags import cancellable, context_of
from penstock.spark.package import PACKAGES, archive_of, has_native, own_sources
from penstock.spark.worker_probe import TASKS, Worker, this_one, workers_of

if TYPE_CHECKING:
    from penstock.job.deployment import Deployment

_LOG = logging.getLogger("penstock")


def ship(session: Any, archive: Path | None) -> None:
    """Have Spark bring an archive wherever it runs a task, once."""
    if archive is None:
        return
    spark = context_of(session)
    if spark is None:  # files of a session of Connect are artifacts
        session.addArtifacts(str(archive), file=True)
    elif all(file.rpartition("/")[2] != archive.name for file in spark.listFiles):
        spark.addFile(str(archive))


@contextlib.contextmanager
def ending(session: Any) -> Iterator[None]:
    """Within the block a job runs in a session of its own, which would stay behind over Spark Connect."""
    try:
        yield
    finally:
        if context_of(session) is None:
            inside_pyspark.release(session)


_met: dict[str, frozenset[Worker]] = {}
"""The workers by the Spark, or by the session of Spark Connect, that they were asked for in."""
_ASKING = threading.Lock()
"""One job at a time asks."""


def equip(session: Any, parent: Any, control: JobControl) -> frozenset[Worker]:
    """Have the tasks of a session import this Penstock. If workers may have another Python, a small job asks them, once
    per Spark; if they have no Penstock or another one, it is sent. Returns the workers that were asked."""
    spark = context_of(session)
    if spark is not None and inside_pyspark.one_machine(spark.master) and same_python(spark.pythonExec, sys.executable):
        return frozenset()
    workers = _asked(session, spark, parent, control)
    packages = lacking(workers)
    native = "penstock" in packages and _same_platform(workers)
    for package in packages:  # Spark unpacks an archive as the folder of a package, which workers find on their path
        archive = archive_of(package, native)
        name = f"{archive.name}#{package}"
        if spark is None:
            session.addArtifacts(f"{archive}#{package}", archive=True)
        elif all(known.rpartition("/")[2] != name for known in spark.listArchives):
            _LOG.info(
                "Spark brings %s to its workers, whose Python has another one or none (%s).", package, archive.name
            )
            spark.addArchive(f"{archive}#{package}")
    return workers


def check_places(session: Any, deployment: Deployment, workers: Iterable[Worker] = ()) -> None:
    """Refuse paths of each machine's own where the tasks of a job run on several, or may. Called before each step, as
    executors come at any time. A call of Spark."""
    spark, settings = context_of(session), deployment.job.settings
    if spark is not None and inside_pyspark.one_machine(spark.master):
        return
    locations = deployment.locations
    if deployment.steps:
        locations = (*locations, ("checkpoint directory", settings.checkpoint_directory or tempfile.gettempdir()))
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
                what = advice(str(error)) or f"{told(error)}."
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
