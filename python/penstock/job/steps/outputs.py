"""The outputs of a job become visible once the manifest that names them stands, and exactly once, whatever dies when.

1. Tasks write pending files under random names, and say in their reports which are finished.
2. :meth:`Outputs.put_together` makes of the reports what goes into the manifest. Nothing is visible.
3. The manifest is written. *From here on the step, or the job that commits once, has happened.*
4. :meth:`Outputs.publish` makes it visible. The next manifest must not be written before it has come to its end.

After a crash the newest manifest is published as if the step had just ended, and then everything is removed that other
steps have left: by the next run with the same checkpoint directory, or for a job that commits once by
:mod:`penstock.job.commit.leftovers`. A step's cost is linear in its files; one without output touches no storage.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.connectors.spark.frames import FrameSink
from penstock.connectors.two_phase import TwoPhaseOutput
from penstock.errors import ConfigurationError, JobExecutionError, PenstockError
from penstock.job.commit.checks import check_files, check_target, exists_already
from penstock.job.commit.folders import Marker, earlier, empty, make, missing_above, remove
from penstock.job.commit.publication import by_target, publish_files, put_whole, send, waiting_size
from penstock.job.folder.manifest import Output
from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.config.tasks import JobConfig, PendingFile, TaskReport
from penstock.runtime.io.pending_paths import prepared_place, waiting_place
from penstock.runtime.io.sinks import PublishedSink
from penstock.storage.storage import is_local, join, sync_folder
from penstock.storage.stores import Store, storage_of

if TYPE_CHECKING:
    from penstock.job.deployment import Deployment, End, Table


LOG = logging.getLogger("penstock")

WriteTable = Callable[["Table", Sequence[str], int, str], None]
"""Takes a table, the files with its rows, a checkpoint, and the id of the checkpoint directory."""


@dataclass
class _Place:
    """A target of one or more sinks."""

    sink: PublishedSink  # one of them
    target: str  # path or URL
    folder: str  # where its files wait
    parallelism: int
    begun: bool = False  # whether an earlier step has made it, if it is text
    sent: int = 0  # bytes that were sent before, if its files are sent
    number: int | None = None  # of the last file, if it is text on a store; None: not known yet

    @property
    def text(self) -> bool:
        """Whether it is a text file that grows, or a folder of them."""
        return not self.sink.adds

    @property
    def exists(self) -> bool:
        return os.path.exists(self.target) if is_local(self.target) else any(Store(self.target).list(self.target))

    def check(self) -> None:
        check_target(self.target, overwrite=self.sink.overwrite, adds=self.sink.adds)


class Outputs:
    """The outputs of one run, a context manager around its steps.

    ``resumed``: an earlier run has committed a step, so targets may exist. ``check`` raises a FencedError if another
    driver has the checkpoint directory."""

    def __init__(
        self,
        deployment: Deployment,
        *,
        resumed: bool = False,
        write_table: WriteTable | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._job: JobConfig = deployment.job
        self._once, self._steps = self._job.folder_id is None, deployment.steps
        self._owner = self._job.folder_id or self._job.job_id  # by which sinks know who has sent what
        ends = [end for end in deployment.ends if isinstance(end.sink, PublishedSink)]
        self._places = {place.folder: place for place in map(self._place, ends)}
        committing = (end for end in deployment.ends if isinstance(end.sink, TwoPhaseOutput | FrameSink))
        self._committers = {end.operator_id: end for end in committing}
        self._tables, self._write_table = deployment.tables, write_table
        self._check = check
        self._guard = None if self._once else check  # what sinks call before they shut others out
        self._passes_on = not self._once and any(end.sink.passes_on for end in ends)
        prepares = self._passes_on or (self._committers and not self._once)
        self.folders = [*self._places, *([prepared_place(self._job)] if prepares else [])]
        self._resumed = resumed
        self._absent: dict[str, Output] = {}  # by target: how far sinks have sent that the program no longer has
        self._in_doubt = False  # whether files wait for a manifest that may stand
        self._new_parents = missing_above(self.folders)

    def _place(self, end: End) -> _Place:
        target = end.sink.place()
        return _Place(end.sink, target, waiting_place(target, self._job, adds=end.sink.adds), end.parallelism)

    def __enter__(self) -> Outputs:
        for place in self._places.values():
            place.begun = not place.text or (self._resumed and place.exists)
            if self._once:  # all were looked at just now
                continue
            if place.text and place.begun:
                _check_shape(place)
            else:
                place.check()
        for folder in self.folders:
            make(folder, Marker.of(self._job, self.folders))
        return self

    def __exit__(self, *_: object) -> None:
        if not self._in_doubt:  # else the next run publishes it, or finds that it does not count
            with contextlib.suppress(OSError, ConfigurationError):  # what stays is removed by the next run
                self.remove()
            self.remove_parents()

    def remove(self) -> bool:
        """Remove the pending folders. Returns whether all of them are gone."""
        gone = [remove(folder) for folder in reversed(self.folders)]
        return all(gone)

    def remove_parents(self) -> None:
        """Remove those folders above the pending ones that were made for them, and are empty."""
        for folder in self._new_parents:
            storage_of(folder).remove_folder(folder)

    def recover(self, outputs: Sequence[Output], version: int, *, published: bool = False) -> None:
        """Publish the newest manifest's outputs, then remove what earlier runs have left. It can be repeated."""
        gone = {end.target for end in outputs if end.committable is not None} - self._committers.keys()
        self.publish([output for output in outputs if not (published and output.target in gone)], version)
        for place in self._places.values():
            place.begun, place.number = place.begun or (version > 0 and place.exists), None
        self.clean()
        for end in self._committers.values():
            if isinstance(end.sink, TwoPhaseOutput):
                end.sink.sink.owner = self._job.folder_id or ""
                recover = getattr(end.sink.sink, "recover", None)
                if callable(recover):  # what was prepared for later versions will not be committed
                    recover(version)

    def put_together(self, reports: Sequence[TaskReport]) -> tuple[Output, ...]:
        """The outputs for the manifest of a step, by the reports of those attempts that count."""
        by_folder: dict[str, list[PendingFile]] = {}
        for file in (file for report in reports for file in report.files):
            by_folder.setdefault(file.pending.rpartition("/")[0], []).append(file)
        for folder, files in by_folder.items():
            self._check_visible(folder, files)
        outputs: list[Output] = []
        for folder, place in self._places.items():
            outputs += self._of(place, by_folder.get(folder, []))
        outputs += self._absent.values()
        for prepared in (committable for report in reports for committable in report.committables):
            data, version = base64.b64encode(prepared.data).decode("ascii"), prepared.version
            pending, target = prepared.data.decode() if prepared.kept else "", prepared.operator_id
            outputs.append(Output(pending, target, overwrite=False, sent=True, at=version, committable=data))
        if self._once:
            check_files(outputs)
        self._in_doubt = bool(outputs)
        return tuple(outputs)

    def _check_visible(self, folder: str, files: Sequence[PendingFile]) -> None:
        """The driver sees the files of tasks. On stores that is only looked at where it costs one request in all."""
        if is_local(folder):
            missing = (file for file in files if not os.path.exists(file.pending))
        else:
            waiting = {entry.path for entry in storage_of(folder).list(folder)} if self._once else ()
            missing = (file for file in files if self._once and file.pending not in waiting)
        file = next(missing, None)
        if file is not None:
            raise ConfigurationError(
                f"The sink file {file.pending!r} is not visible on the driver. Use a file system that the driver "
                "and all executors share."
            )

    def _of(self, place: _Place, files: list[PendingFile]) -> list[Output]:
        if place.text:
            if not is_local(place.target):
                return _on_store(place, files, numbered=self._steps)
            return _grown(files, {}) if place.begun else _first(place, files)
        if place.sink.sends:
            return _to_send(place, files)
        if files and is_local(place.folder):
            sync_folder(place.folder)
        for file in files:
            if is_local(file.final) and os.path.exists(file.final):
                raise exists_already(file.final)
        return [Output(file.pending, file.final, overwrite=False) for file in files]

    def publish(self, outputs: Sequence[Output], version: int) -> None:
        """Make visible what the manifest of a checkpoint says, before the next one is written. It can be repeated."""
        publish_files(outputs)
        self._send(outputs, version)
        prepared = [output for output in outputs if output.committable is not None]
        for operator_id, outputs_of_sink in by_target(prepared).items():
            self._commit_prepared(operator_id, outputs_of_sink, version)
        for output in outputs:
            place = self._places.get(output.pending.rpartition("/")[0])
            if place is not None:
                place.begun = True
        self._in_doubt = False

    def _send(self, outputs: Sequence[Output], version: int) -> None:
        sent = [output for output in outputs if output.sent and output.committable is None]
        places = {place.target: place for place in self._places.values()}
        for target, files in by_target(sent).items():
            place = places.get(target)
            if place is not None:
                place.sent = send(place.sink, files, self._owner, version, self._guard, last=self._once)
            elif any(file.pending and os.path.exists(file.pending) for file in files):
                raise ConfigurationError(
                    f"Records of checkpoint {version} wait in {target!r} to be sent, and the program no longer has a "
                    "sink that sends them. Run it once with that sink, which sends them first."
                )
            else:
                total = (files[0].at or 0) + sum(file.size or 0 for file in files)
                self._absent[target] = replace(files[0], pending="", at=total, size=0)

    def _commit_prepared(self, operator_id: str, outputs: Sequence[Output], version: int) -> None:
        if not self._once:
            version = outputs[0].at or version  # a later manifest may name it again
        end = self._committers.get(operator_id)
        if end is None:
            self._leave(operator_id, outputs, version)
        elif isinstance(end.sink, FrameSink):
            assert self._write_table is not None, "a program with tables runs on Spark"
            table, files = self._tables[end.sink.number], [output.pending for output in outputs]
            storage = storage_of(files[0])
            if all(storage.size(path) is not None for path in files):  # else it was written, and its files are going
                self._write_table(table, files, version, self._owner)
            storage.delete(files)
        else:
            _commit(end.sink, end.name, outputs, version, self._job.folder_id or "")

    def keep(self, version: int) -> None:
        for place in self._places.values():
            if place.sink.sends:
                place.sink.send([], self._owner, version, place.sent, self._guard)

    def _leave(self, operator_id: str, outputs: Sequence[Output], version: int) -> None:
        """Leave behind, if that is allowed, what a sink has prepared that the program no longer has."""
        if not self._job.settings.ignore_unclaimed:
            raise ConfigurationError(
                f"A sink with the operator ID {operator_id} has prepared records, and the program no longer has this "
                "sink. Run it once with that sink (uid() keeps its ID), which commits them first. To leave them "
                "behind, set execution.savepoint.ignore-unclaimed-state to true (--allow-non-restored-state)."
            )
        LOG.warning(
            "The commit that the sink with the operator ID %s prepared for checkpoint %d is left behind: it is done "
            "only if the earlier run has come to that.",
            operator_id,
            version,
        )
        for path in (output.pending for output in outputs if output.pending):
            storage_of(path).delete([path])

    def clear_passed_on(self) -> None:
        """Remove what tasks have written for the next steps, right behind :meth:`publish` of a checkpoint."""
        if self._passes_on:
            empty(prepared_place(self._job))

    def clean(self) -> None:
        """Remove what earlier runs and failed attempts have left, while no task works and all is published."""
        folders = [folder for pending in self.folders for folder in earlier(pending)]
        self._check()  # after the listing: a successor that comes later has folders that were not in it
        for folder in folders:
            remove(folder)
        for pending in self.folders:
            empty(pending)


def _check_shape(place: _Place) -> None:
    """A text output that is there is a file where it is to be one, and a folder where it is to be that."""
    if not is_local(place.target):
        return
    folder = os.path.isdir(place.target)
    if folder is (place.parallelism == 1):
        kind, other = ("a folder", "one subtask writes one file") if folder else ("a file", "several write a folder")
        raise ConfigurationError(
            f"The output {place.target!r} is {kind}, and its sink has a parallelism of {place.parallelism} now: "
            f"{other}. Give the sink the parallelism that it had, or another path."
        )


def _first(place: _Place, files: Sequence[PendingFile]) -> list[Output]:
    """A text output that no step has made: whole, by one rename; what else a subtask has is put behind that."""
    place.check()
    single = place.parallelism == 1
    names: dict[str, PendingFile] = {}
    more = [file for file in files if names.setdefault(file.final, file) is not file]
    sizes = {final: waiting_size(file.pending) for final, file in names.items()}
    wanted = [place.target] if single else [join(place.target, str(index + 1)) for index in range(place.parallelism)]
    waiting = [(os.path.basename(final), names[final].pending if final in names else None) for final in wanted]
    new = put_whole(place.folder, waiting, single)
    return [Output(new, place.target, place.sink.overwrite), *_grown(more, sizes)]


def _on_store(place: _Place, files: Sequence[PendingFile], *, numbered: bool) -> list[Output]:
    """Text on a store, where files cannot grow: if ``numbered``, each checkpoint adds files to a folder."""
    if not (numbered and place.begun):
        place.check()
    if not numbered:
        return [Output(file.pending, file.final, place.sink.overwrite) for file in files]
    if place.number is None:
        names = (entry.path.rpartition("/")[2] for entry in Store(place.target).list(place.target) if place.begun)
        place.number = max((int(name) for name in names if name.isdigit()), default=0)
    first, place.number = place.number + 1, place.number + len(files)
    targets = (join(place.target, str(number)) for number in range(first, place.number + 1))
    overwrite = place.sink.overwrite and not place.begun
    return [Output(file.pending, target, overwrite) for file, target in zip(files, targets, strict=True)]


def _grown(files: Sequence[PendingFile], sizes: dict[str, int]) -> list[Output]:
    """Text files that get more lines, behind what is there (``sizes``, or what the file system says)."""
    outputs: list[Output] = []
    for file in files:
        at = sizes.get(file.final, waiting_size(file.final))
        size = waiting_size(file.pending)
        outputs.append(Output(file.pending, file.final, overwrite=False, at=at, size=size))
        sizes[file.final] = at + size
    return outputs


def _to_send(place: _Place, files: Sequence[PendingFile]) -> list[Output]:
    """Files whose records are sent. There is always an entry, which says how many bytes have been sent before."""
    before, outputs = place.sent, [Output("", place.target, overwrite=False, sent=True, at=place.sent, size=0)]
    for file in files:
        size = waiting_size(file.pending)
        outputs.append(Output(file.pending, place.target, overwrite=False, sent=True, at=before, size=size))
        before += size
    if files:
        sync_folder(place.folder)
    return outputs


def _commit(output: TwoPhaseOutput, name: str, prepared: Sequence[Output], version: int, owner: str) -> None:
    """Have a sink commit what its subtasks have prepared, and remove the files of that. It can be repeated."""
    files = [part.pending for part in prepared if part.pending]
    storage = storage_of(files[0]) if files else None
    try:
        data = [
            storage.get(part.pending) if storage and part.pending else base64.b64decode(part.committable or "")
            for part in prepared
        ]
    except FileNotFoundError:  # they go after the commit, all of them
        data = []
    if data:
        output.sink.owner = owner
        committables = list(map(decode_value, data))
        try:
            output.sink.commit(committables, version)
        except PenstockError:
            raise
        except Exception as error:
            raise JobExecutionError(
                f"The sink {name!r} ({type(output.sink).__name__}) could not commit checkpoint {version}: "
                f"{type(error).__name__}: {error}. It counts: with a checkpoint directory, run the program "
                "again; commit() is called again with the same, and has to skip what it has done already."
            ) from error
    if storage is not None:
        storage.delete(files)
