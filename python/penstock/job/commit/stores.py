"""The commit of a job whose outputs are on stores (S3 and the like), where there are neither renames nor locks.

1. The driver makes a pending folder per output, hidden, and renews a *lease* in the first as long as it lives.
2. Tasks send their files there, each attempt under a name of its own; those of attempts that count are in the reports.
3. The driver writes the manifest, by a request that fails if there is one. *From here on the job has happened.*
4. The store copies each file to its last name, several at a time; then what was replaced goes, then the pending
   folders.

Nobody sees a part of a file. Between the first and the last copy a reader sees some files of an output and not yet the
others; all of it can be repeated until it is done. Who finds a job whose lease is over gives it up by writing an empty
manifest, so a driver that was only slow cannot commit any more.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from penstock.errors import ConfigurationError, JobExecutionError, PenstockError
from penstock.job.commit.manifest import Manifest, Output, commits, newest_manifest, write_manifest
from penstock.job.commit.pending import MARKER, Marker, marker_of
from penstock.job.commit.publish import exists_already, not_a_sinks, not_visible, unpublished
from penstock.runtime.config.tasks import JobConfig, TaskReport
from penstock.runtime.io.pending import ATTEMPT, pending_place, target_place
from penstock.runtime.io.sinks import PublishedSink
from penstock.runtime.io.storage import join
from penstock.runtime.io.stores import Store, configure

LEASE = "lease"
RENEWED_SECONDS, LEASE_SECONDS = 30.0, 300.0
"""How often a driver renews its lease; how old it can be while the driver lives."""

_OWN = re.compile(rf"job\.json|{LEASE}|clock-[0-9a-f]{{32}}|manifest-\d+\.json(\.[0-9a-f]{{32}}\.tmp)?|{ATTEMPT}")


@dataclass(frozen=True)
class StoreTarget:
    """Where an output goes on a store.

    Attributes:
        place: its URL.
        overwrite: replace what is there, which must be a file, or a folder with nothing but numbered files.
        adds: it is a folder that keeps what is in it, and gets files.
    """

    place: str
    overwrite: bool
    adds: bool = False

    @classmethod
    def of(cls, sink: PublishedSink) -> StoreTarget:
        """Where a sink writes."""
        return cls(sink.place(), sink.overwrite, sink.adds)

    def folder(self, job_id: str) -> str:
        """The pending folder of a job."""
        return pending_place(self.place, job_id, adds=self.adds)

    def check(self) -> None:
        """The target is free, or may be replaced.

        Raises:
            ConfigurationError: it is not, or its store cannot be reached.
        """
        store = Store(self.place)
        is_file = store.size(self.place) is not None
        if self.adds:
            if is_file:
                raise ConfigurationError(
                    f"{self.place!r} is no folder, so no files can be added to it. Remove it, or write to another base "
                    "path."
                )
            return
        names = [_name(entry.path) for entry in store.list(self.place) if entry.path != self.place]
        if (names or is_file) and not self.overwrite:
            raise exists_already(self.place)
        strange = min((name for name in names if not name.isdigit()), default=None)
        if strange is not None:
            raise not_a_sinks(self.place, strange)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


class StoreOutputs:
    """The outputs of one running job on stores, a context manager around it; see
    :class:`~penstock.job.commit.publish.PendingOutputs`.

    Args:
        job: whose.
        targets: where it writes.
    """

    def __init__(self, job: JobConfig, targets: Sequence[StoreTarget]) -> None:
        self._targets = list(dict.fromkeys(targets))
        folders = tuple(target.folder(job.job_id) for target in self._targets)
        self._marker = Marker(job.name, job.job_id, folders)
        self._lease = _Lease(folders[0], job.settings.storage_options)
        self._published = False

    def __enter__(self) -> StoreOutputs:
        try:
            for target, folder in zip(self._targets, self._marker.folders, strict=True):
                self._claim(target, folder)
            self._lease.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _claim(self, target: StoreTarget, folder: str) -> None:
        try:
            Store(folder).put(join(folder, MARKER), json.dumps(asdict(self._marker)).encode("ascii"))
        except (OSError, ConfigurationError) as error:
            raise ConfigurationError(
                f"The output {target.place!r} cannot be written: {error} Write to a bucket that is there, and where "
                "you may."
            ) from error

    def __exit__(self, *_: object) -> None:
        self._lease.stop()
        with contextlib.suppress(OSError, PenstockError):  # what stays is removed by a later run
            if self._published or newest_manifest(self._marker.home_place) is None:
                remove(self._marker.folders)

    def commit(self, reports: Sequence[TaskReport]) -> None:
        """Write the manifest, and publish.

        Args:
            reports: one for each subtask.

        Raises:
            ConfigurationError: a file is not there; or meanwhile something has appeared in a target's place; or the job
                was committed, but not published.
            JobExecutionError: somebody has given the job up.
        """
        for target in self._targets:
            target.check()
        home = self._marker.home_place
        outputs = self._outputs(reports)
        manifest = Manifest(self._marker.job, self._marker.job_id, 1, outputs, commits(reports))
        if not write_manifest(home, manifest):
            raise self._given_up()
        if read_marker(home) is None:  # it was all over before: the manifest of who gave the job up has gone, too
            Store(home).delete([join(home, "manifest-1.json")])
            raise self._given_up()
        try:
            publish(self._marker, outputs)
        except (OSError, PenstockError) as error:
            raise unpublished(self._marker, error) from error
        self._published = True

    def _given_up(self) -> JobExecutionError:
        return JobExecutionError(
            f"The job {self._marker.job!r} was given up by another one, or by `penstock clean`: its driver was not "
            f"heard of for {LEASE_SECONDS:.0f} seconds. Nothing was published; run it again."
        )

    def _outputs(self, reports: Sequence[TaskReport]) -> tuple[Output, ...]:
        there = _waiting(self._marker)
        overwrite = {target.folder(self._marker.job_id): target.overwrite for target in self._targets}
        files = [file for report in reports for file in report.files]
        for file in files:
            if file.pending not in there:
                raise not_visible(file.pending)
        return tuple(Output(f.pending, f.final, overwrite[f.pending.rpartition("/")[0]]) for f in files)


class _Lease:
    """Says that a driver lives, by a file that is written again and again.

    Args:
        home: where.
        options: for its store.
    """

    def __init__(self, home: str, options: Mapping[str, Mapping[str, Any]]) -> None:
        self._home, self._options = home, options
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Once the marker is there."""
        Store(self._home).put(join(self._home, LEASE), b"")
        self._thread = threading.Thread(target=self._renew, name="penstock-lease", daemon=True)
        self._thread.start()

    def _renew(self) -> None:
        configure(self._options)
        while not self._over.wait(RENEWED_SECONDS):
            with contextlib.suppress(Exception):  # the next time may do
                Store(self._home).put(join(self._home, LEASE), b"")

    def stop(self) -> None:
        """The driver is about to leave."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()


def read_marker(folder: str) -> Marker | None:
    """The marker of a pending folder on a store, None where there is none.

    Raises:
        ConfigurationError: no Penstock, or a newer one, has written it; or the store cannot be reached.
    """
    try:
        return marker_of(Store(folder).get(join(folder, MARKER)), folder)
    except FileNotFoundError:
        return None


def _waiting(marker: Marker) -> dict[str, int]:
    """The files in the pending folders of a job, and their sizes."""
    return {entry.path: entry.size for folder in marker.folders for entry in Store(folder).list(folder)}


def publish(marker: Marker, outputs: Sequence[Output]) -> None:
    """Give committed outputs their names, and remove what they replace. It can be repeated. O(files) requests.

    Raises:
        ConfigurationError: the store cannot be reached.
        OSError: it refuses.
    """
    there = _waiting(marker)
    for folder in marker.folders:
        own = [output for output in outputs if output.pending.rpartition("/")[0] == folder]
        due = [(output.pending, output.target) for output in own if output.pending in there]
        try:
            _replace(folder, due, {output.target: output.overwrite for output in own})
        except FileNotFoundError:
            if newest_manifest(marker.home_place) is not None:
                raise
            return  # somebody has taken this driver for dead, and has done it all


def _replace(folder: str, due: Sequence[tuple[str, str]], last: Mapping[str, bool]) -> None:
    """Give files their names, and remove what stood at the target of a text sink: one file, or numbered ones.

    Args:
        folder: where they wait.
        due: those that still do, and their last names.
        last: all last names of the output; whether they replace something.
    """
    store, target = Store(folder), target_place(folder) or ""
    old: list[str] = []
    if any(last.values()):
        there = (entry.path for entry in store.list(target) if entry.size >= 0)
        old = [path for path in there if (path == target or _name(path).isdigit()) and path not in last]
    if store.has_folders:  # there a file and a folder of one name cannot be at a time
        store.delete(old)
        if target in last:
            store.remove_folder(target)
    if due:
        store.give(due)
    if not store.has_folders:
        store.delete(old)


def stranger(folder: str) -> str | None:
    """The first name in a pending folder that no job of Penstock makes, None if there is none."""
    names = (_name(entry.path) for entry in Store(folder).list(folder))
    return min((name for name in names if not _OWN.fullmatch(name)), default=None)


def remove(folders: Iterable[str]) -> None:
    """Remove the pending folders of a job, the home last; none of them if one has a :func:`stranger` in it.

    Raises:
        ConfigurationError: the store cannot be reached.
    """
    folders = list(folders)
    if all(stranger(folder) is None for folder in folders):
        for folder in reversed(folders):
            store = Store(folder)
            names = [_name(entry.path) for entry in store.list(folder)]
            store.delete(join(folder, name) for name in sorted(names, key=_removal_order))
            store.remove_folder(folder)


def _removal_order(name: str) -> int:
    """Files, then the marker, then the manifest: without the marker all else is over, whatever there is."""
    return 2 if name.startswith("manifest-") else 1 if name in (MARKER, LEASE) else 0
