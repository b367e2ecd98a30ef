"""The commit of a bounded job: its outputs become visible together, or none of them does.

1. The driver makes a pending folder per output; tasks write there.
2. Each task ends with its report, and those that arrive at the driver say which attempts count.
3. The driver puts each output together, still hidden, and writes the manifest. *From here on the job has happened.*
4. Each output gets its name by a rename; what it replaces goes before it is removed. Then the pending folders go.

A file that is added to a folder is an output of its own: it is not put together with others, and replaces nothing.

Whatever dies before the third step is over leaves nothing but hidden files, which
:mod:`penstock.job.commit.recovery` removes; after it, the fourth step can be repeated until it is done. Between two
renames of the fourth step a reader can see one output without the other: no file system renames two things at once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

from penstock.errors import ConfigurationError, JobExecutionError, PenstockError
from penstock.job.commit.manifest import Manifest, Output, commits, newest_manifest, write_manifest
from penstock.job.commit.pending import NEW, OLD, Marker, claim, remove
from penstock.runtime.config.tasks import JobConfig, PendingFile, TaskReport
from penstock.runtime.io.pending import pending_folder, pending_inside, target_of
from penstock.runtime.io.sinks import PublishedSink
from penstock.runtime.io.storage import sync_folder


@dataclass(frozen=True)
class Target:
    """Where an output goes.

    Attributes:
        path: real and absolute.
        overwrite: replace what is there, which must be a file, or a folder with nothing but numbered files.
        adds: it is a folder that keeps what is in it, and gets files.
        sender: the sink that sends the files elsewhere; None if they get names.
    """

    path: Path
    overwrite: bool
    adds: bool = False
    sender: PublishedSink | None = None

    @classmethod
    def of(cls, sink: PublishedSink) -> Target:
        """Where a sink writes, whatever the current folder becomes; links are followed."""
        return cls(sink.target(), sink.overwrite, sink.adds, sink if sink.sends else None)

    def folder(self, job_id: str) -> Path:
        """The pending folder of a job."""
        return pending_inside(self.path, job_id) if self.adds else pending_folder(self.path, job_id)

    def check(self) -> None:
        """The target is free, or may be replaced.

        Raises:
            ConfigurationError: it is not.
        """
        path = self.path
        if not path.exists():
            return
        if self.adds:
            _check_folder(path)
            return
        if not (path.is_file() or path.is_dir()) or os.path.ismount(path):
            raise ConfigurationError(
                f"The output {str(path)!r} is neither a file nor a folder that can be replaced, and a text sink "
                "replaces what it writes to. Write to a file."
            )
        if not self.overwrite:
            raise exists_already(str(path))
        entries = path.iterdir() if path.is_dir() else ()
        strange = min((p.name for p in entries if not (p.name.isdigit() and p.is_file())), default=None)
        if strange is not None:
            raise not_a_sinks(str(path), strange)


def exists_already(place: str) -> ConfigurationError:
    """The error for an output that is not to be replaced."""
    return ConfigurationError(
        f"The output {place!r} exists already, and existing files are not overwritten. Remove it, write elsewhere, or "
        "pass the write mode OVERWRITE.",
        flink_class="java.io.IOException",
    )


def not_a_sinks(place: str, strange: str) -> ConfigurationError:
    """The error for an output folder with something in it that no sink makes."""
    return ConfigurationError(
        f"The output folder {place!r} contains {strange!r}, which no text sink wrote; it is not deleted. Choose "
        "another folder, or empty this one yourself."
    )


def not_visible(pending: str) -> ConfigurationError:
    """The error for a file of a task that the driver does not see."""
    return ConfigurationError(
        f"The sink file {pending!r} is not visible on the driver. Sinks of files need a file system that the driver "
        "and all executors share."
    )


def _check_folder(path: Path) -> None:
    """A folder is there, or can be made.

    Raises:
        ConfigurationError: something else stands in its place.
    """
    if path.exists() and not path.is_dir():
        raise ConfigurationError(
            f"{str(path)!r} is no folder, so no files can be added to it. Remove it, or write to another base path."
        )
    if path.exists() and not os.access(path, os.W_OK | os.X_OK):
        raise ConfigurationError(
            f"No files can be added to {str(path)!r}: it may not be written. Change its permissions, or write to "
            "another base path."
        )


class PendingOutputs:
    """The outputs of one running job, a context manager around it: pending folders on entry, none of them on exit,
    unless the job has been committed and publishing did not come to its end.

    Args:
        job: whose.
        targets: where it writes; those of several sinks may be the same, and none is inside another.
    """

    def __init__(self, job: JobConfig, targets: Sequence[Target]) -> None:
        self._targets = list(dict.fromkeys(targets))
        folders = (str(target.folder(job.job_id)) for target in self._targets)
        self._marker = Marker(job.name, job.job_id, tuple(folders))
        self._lock: IO[bytes] | None = None
        self._published = False
        self._made: list[Path] = []

    def __enter__(self) -> PendingOutputs:
        try:
            for target, folder in zip(self._targets, self._marker.folders, strict=True):
                self._claim(target, Path(folder))
        except BaseException:
            self.__exit__()
            raise
        return self

    def _claim(self, target: Target, folder: Path) -> None:
        self._made += [each for each in folder.parents if not each.exists()]
        try:
            file = claim(folder, self._marker)
        except OSError as error:
            raise ConfigurationError(
                f"The output {str(target.path)!r} cannot be written: {error}. Choose a folder you may write to."
            ) from error
        if self._lock is None:
            self._lock = file
        else:
            file.close()

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # what stays is removed by the next run
            committed = self._committed()
            if self._published or not committed:
                remove(self._marker.folders)
            for folder in () if committed else sorted(self._made, key=lambda each: -len(each.parts)):
                with contextlib.suppress(OSError):  # somebody else uses it
                    folder.rmdir()
        if self._lock is not None:
            self._lock.close()

    def _committed(self) -> bool:
        """Whether the manifest stands, whatever exception came after it."""
        if not self._targets or not self._marker.home.is_dir():
            return False
        return newest_manifest(str(self._marker.home)) is not None

    def commit(self, reports: Sequence[TaskReport]) -> None:
        """Write the manifest, and publish. A job without outputs has nothing to write.

        Args:
            reports: one for each subtask.

        Raises:
            ConfigurationError: a file is not there, as when the driver does not share the executors' file system; or
                meanwhile something has appeared in a target's place; or the job was committed, but not published.
        """
        if not self._targets:
            return
        for target in self._targets:
            target.check()
        outputs = self._put_together([file for report in reports for file in report.files])
        check_outputs(outputs, senders(self._targets))
        manifest = Manifest(self._marker.job, self._marker.job_id, 1, outputs, commits(reports))
        try:
            if not write_manifest(str(self._marker.home), manifest):
                raise JobExecutionError("The job has been committed before. This is a defect of Penstock.")
            publish(outputs, senders(self._targets))
        except (OSError, PenstockError) as error:
            if not self._committed():
                raise
            raise unpublished(self._marker, error) from error
        self._published = True

    def _put_together(self, files: Sequence[PendingFile]) -> tuple[Output, ...]:
        """Each output under one name, by renames that nobody sees. O(files)."""
        for file in files:
            if not os.path.exists(file.pending):
                raise not_visible(file.pending)
        by_folder: dict[str, list[PendingFile]] = {folder: [] for folder in self._marker.folders}
        for file in files:
            by_folder[os.path.dirname(file.pending)].append(file)
        pairs = zip(self._targets, by_folder.items(), strict=True)
        return tuple(output for target, (folder, own) in pairs for output in _put_together(target, Path(folder), own))


def unpublished(marker: Marker, error: Exception) -> ConfigurationError:
    """The error of a job that was committed and not published."""
    return ConfigurationError(
        f"The job has succeeded, but not all its outputs could be published: {error} They wait in "
        f"{list(marker.folders)}; remove the obstacle, and `penstock clean` publishes them."
    )


def _put_together(target: Target, folder: Path, files: Sequence[PendingFile]) -> Iterable[Output]:
    if target.adds:
        sync_folder(folder)
        return [Output(file.pending, file.final, False, target.sender is not None) for file in files]
    new = folder / NEW
    if [file.final for file in files] == [str(target.path)]:
        os.rename(files[0].pending, new)
    else:
        os.mkdir(new)
        for file in files:
            os.rename(file.pending, new / os.path.basename(file.final))
        sync_folder(new)
    sync_folder(folder)
    return [Output(str(new), str(target.path), target.overwrite)]


def base_of(output: Output) -> Path | None:
    """The folder to which an output is added; None if it becomes visible beside its pending folder."""
    pending = Path(output.pending)
    return target_of(pending.parent) if pending.name != NEW else None


Senders = Mapping[Path, PublishedSink]
"""The sinks that send files, by where these wait."""


def senders(targets: Iterable[Target]) -> Senders:
    """The sinks among targets that send files."""
    return {target.path: target.sender for target in targets if target.sender is not None}


def _to_send(outputs: Sequence[Output]) -> dict[Path, list[str]]:
    """The files that are still to be sent, with those that have been, by where they wait."""
    found: dict[Path, list[str]] = {}
    for output in outputs:
        if output.sent:
            found.setdefault(base_of(output) or Path(output.target).parent, []).append(output.pending)
    return {base: files for base, files in found.items() if any(map(os.path.exists, files))}


def _send(outputs: Sequence[Output], by: Senders) -> None:
    """Send what is to be sent; :func:`check_outputs` has found who does it."""
    for base, files in _to_send(outputs).items():
        by[base].send(files, os.path.dirname(files[0]).rpartition("-")[2])


def check_outputs(outputs: Sequence[Output], by: Senders = MappingProxyType({})) -> None:
    """Every output that is still to be published can be.

    Raises:
        ConfigurationError: something stands in its place that may not be replaced; or nobody here can send it.
    """
    for base in _to_send(outputs).keys() - by.keys():
        raise ConfigurationError(
            f"records wait in {str(base)!r} to be sent, which only the program can do whose sink they are of. Run it "
            "again: it sends them first."
        )
    folders: dict[Path, None] = {}
    for output in outputs:
        new = Path(output.pending)
        if output.sent or not new.exists():
            continue
        folders.update(dict.fromkeys(_buckets(output)))
        aside = new.with_name(OLD).exists()  # what was there has gone; this has come since
        Target(Path(output.target), output.overwrite and not aside).check()
    for folder in folders:
        _check_folder(folder)


def _buckets(output: Output) -> list[Path]:
    """The folders to be made for an output that is added to one: those above it up to that one, from below."""
    base, parents = base_of(output), Path(output.target).parents
    return [] if base is None else [folder for folder in parents if base == folder or base in folder.parents]


def publish(outputs: Sequence[Output], by: Senders = MappingProxyType({})) -> None:
    """Give committed outputs their names, and send what is to be sent. Those that have them already are left alone, so
    it can be repeated.

    Args:
        outputs: of one job.
        by: sends.

    Raises:
        ConfigurationError: something stands in a target's place that may not be replaced; nothing was published.
        OSError: the file system refuses.
    """
    check_outputs(outputs, by)
    named = [output for output in outputs if not output.sent]
    for output in named:
        new, target = Path(output.pending), Path(output.target)
        if new.exists():
            if base_of(output) is not None:
                os.makedirs(target.parent, exist_ok=True)
            elif target.exists() and not (new.is_file() and target.is_file()):
                os.rename(target, new.with_name(OLD))
            os.replace(new, target)
    for folder in dict.fromkeys(each for output in named for each in (Path(output.target).parent, *_buckets(output))):
        if folder.is_dir():
            sync_folder(folder)
    _send(outputs, by)
