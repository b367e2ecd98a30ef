"""The outputs of a job that runs in steps: what each step has written becomes visible once its manifest stands, and
exactly once, whatever dies when.

1. Tasks write pending files, by names of chance, and say in their reports which are finished.
2. :meth:`StepOutputs.put_together` makes of the reports what goes into the manifest of the version. Nothing is visible.
3. Whoever keeps the job folder writes the manifest. *From here on the step has happened.*
4. :meth:`StepOutputs.publish` makes it visible. The next manifest must not be written before it has come to its end.

After a crash the next run publishes what the newest manifest says, as if the step had just ended, and then removes what
other steps have left. A step's cost is linear in its files; one without output touches no storage.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import ConfigurationError, UnsupportedError
from penstock.job.commit.manifest import Output
from penstock.job.commit.prepared import commit_prepared, roll_back
from penstock.job.commit.publish import Target, exists_already, not_visible
from penstock.job.commit.stores import StoreTarget
from penstock.job.steps.places import earlier, empty, make, remove
from penstock.job.steps.publishing import by_target, publish_files, put_whole, waiting_size
from penstock.runtime.config.tasks import Committable, JobConfig, PendingFile, TaskReport
from penstock.runtime.io.frames import FrameSink
from penstock.runtime.io.pending import prepared_place, waiting_place
from penstock.runtime.io.sinks import PublishedSink
from penstock.runtime.io.storage import is_local, join, sync_folder
from penstock.runtime.io.stores import storage_of
from penstock.runtime.io.two_phase import TwoPhaseOutput

if TYPE_CHECKING:
    from penstock.job.deployment import Deployment, End, Table


LOG = logging.getLogger("penstock")

WriteTable = Callable[["Table", Sequence[str], int, str], None]
"""Takes a table, the files with its rows, a version, and the id of the job folder."""


@dataclass
class _Place:
    """A target of one or more sinks.

    Attributes:
        sink: one of them.
        target: path or URL.
        folder: where its files wait.
        parallelism: of the sink.
        begun: whether an earlier step has made it, if it is a text file or a folder of them.
        sent: bytes that have been sent before, if its files are sent.
    """

    sink: PublishedSink
    target: str
    folder: str
    parallelism: int
    begun: bool = False
    sent: int = 0

    @property
    def text(self) -> bool:
        """Whether it is a text file that grows, or a folder of them."""
        return not self.sink.adds


class StepOutputs:
    """The outputs of one run of a job that goes in steps, a context manager around its steps::

        with StepOutputs(deployment, resumed=newest is not None) as outputs:
            outputs.recover(newest.outputs, newest.version)     # if there is a newest manifest
            …
            committed = outputs.put_together(reports)           # into the manifest of the version
            …
            outputs.publish(committed, version)                 # before the next manifest

    Args:
        deployment: the job, with ``folder_id`` and ``folder``.
        resumed: whether an earlier run with this job folder has committed a step; then targets may be there.
        write_table: writes a table's rows of a step, which wait in files, as the version of an owner; None where there
            is no Spark.
        check: raises FencedError if another driver has taken the job folder over.

    Raises:
        UnsupportedError: a text sink writes to a store.
    """

    def __init__(
        self,
        deployment: Deployment,
        *,
        resumed: bool = False,
        write_table: WriteTable | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        assert deployment.job.folder_id is not None, "only a job with a job folder runs in steps"
        self._job: JobConfig = deployment.job
        self._places = {place.folder: place for place in map(self._place, _published(deployment))}
        committing = (end for end in deployment.ends if isinstance(end.sink, TwoPhaseOutput | FrameSink))
        self._committers = {end.operator_id: end for end in committing}
        self._tables, self._write_table = deployment.tables, write_table
        self._check_owner = check
        self._folders = [*self._places, *([prepared_place(self._job)] if self._committers else [])]
        self._resumed = resumed
        self._absent: dict[str, Output] = {}  # by target: how far sinks have sent that the program has not any more
        self._in_doubt: frozenset[str] | None = None  # what waits for a manifest that may stand
        self._made: list[Path] = []

    def _place(self, end: End) -> _Place:
        target = end.sink.place()
        if not end.sink.adds and not is_local(target):
            raise UnsupportedError(
                f"The sink {end.name!r} writes text to {target!r}, and the program runs in steps: its files would "
                "grow, and those of a store cannot. Use sink_to(FileSink.for_row_format(…)), which adds files in each "
                "step, or write to a local or mounted folder."
            )
        return _Place(end.sink, target, waiting_place(target, self._job, adds=end.sink.adds), end.parallelism)

    def __enter__(self) -> StepOutputs:
        for place in self._places.values():
            place.begun = self._resumed and os.path.exists(place.target) if place.text else True
            if not place.begun or not place.text:
                _check(place)
            else:
                _check_shape(place)
        for folder in self._folders:
            self._made += make(folder, self._job)
        return self

    def __exit__(self, *_: object) -> None:
        if self._in_doubt is not None:  # who comes next publishes it, or finds that it does not count
            return
        with contextlib.suppress(OSError, ConfigurationError):  # what stays is removed by the next run
            for folder in self._folders:
                remove(folder)
            for folder in sorted(self._made, key=lambda each: -len(each.parts)):
                with contextlib.suppress(OSError):  # it is in use
                    folder.rmdir()

    def recover(self, outputs: Sequence[Output], version: int, *, published: bool = False) -> None:
        """Publish what the newest manifest says, as far as it has not been; then remove what earlier runs with this job
        folder have left. It can be repeated.

        Args:
            outputs: of that manifest.
            version: its own; 0, and no outputs, if there is none.
            published: whether all of them are known to be: then what sinks had prepared that are gone is not missed.

        Raises:
            ConfigurationError: an output cannot be published; the message says what to do.
            FencedError: another driver has taken the job folder over.
            OSError: the storage refuses.
        """
        self.publish([each for each in outputs if not (published and self._is_gone(each))], version)
        for place in self._places.values():
            place.begun = place.begun or (version > 0 and os.path.exists(place.target))
        self.clean()
        for end in self._committers.values():
            if isinstance(end.sink, TwoPhaseOutput):
                roll_back(end.sink, version, self._job.folder_id or "")

    def put_together(self, reports: Sequence[TaskReport]) -> tuple[Output, ...]:
        """What goes into the manifest of a step.

        Args:
            reports: one for each subtask, of the attempts that count.

        Returns:
            What :meth:`publish` publishes once the manifest stands.

        Raises:
            ConfigurationError: a file is not there, as when the driver does not share the executors' file system; or
                something stands in a target's place.
        """
        by_folder: dict[str, list[PendingFile]] = {}
        for file in (file for report in reports for file in report.files):
            if is_local(file.pending) and not os.path.exists(file.pending):
                raise not_visible(file.pending)
            by_folder.setdefault(file.pending.rpartition("/")[0], []).append(file)
        outputs: list[Output] = []
        for folder, place in self._places.items():
            outputs += self._of(place, by_folder.get(folder, []))
        outputs += self._absent.values()
        for each in (committable for report in reports for committable in report.committables):
            data = base64.b64encode(each.data).decode("ascii")
            pending = each.data.decode() if each.kept else ""
            outputs.append(
                Output(pending, each.operator_id, overwrite=False, sent=True, at=each.version, committable=data)
            )
        self._in_doubt = frozenset(output.pending for output in outputs) or None
        return tuple(outputs)

    def _of(self, place: _Place, files: list[PendingFile]) -> list[Output]:
        """The outputs of a target."""
        if place.text:
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
        """Make visible what a manifest says. It can be repeated, at any time before the next manifest is written, which
        must not happen before this has come to its end.

        Args:
            outputs: of the manifest of this version.
            version: which is the manifest's.

        Raises:
            ConfigurationError: an output cannot be published, or the program has not the sink any more that does it;
                what is not published waits.
            OSError: the storage refuses.
        """
        publish_files(outputs)
        self._send(outputs, version)
        for operator_id, own in by_target([each for each in outputs if each.committable is not None]).items():
            version = own[0].at or version  # a later manifest may name it again
            if operator_id not in self._committers and self._job.settings.ignore_unclaimed:
                self._leave(operator_id, own, version)
                continue
            end, prepared, owner = self._committer(operator_id), list(map(_committable, own)), self._job.folder_id or ""
            if isinstance(end.sink, FrameSink):
                self._write(self._tables[end.sink.number], [output.pending for output in own], version)
            else:
                commit_prepared(end.sink, end.name, prepared, version, owner)
        for output in outputs:
            place = self._places.get(output.pending.rpartition("/")[0])
            if place is not None:
                place.begun = True
        self._in_doubt = None

    def _send(self, outputs: Sequence[Output], version: int) -> None:
        """Have sinks send what their files hold."""
        sent = [output for output in outputs if output.sent and output.committable is None]
        for target, own in by_target(sent).items():
            place = next((each for each in self._places.values() if each.target == target), None)
            if place is None and not any(each.pending and os.path.exists(each.pending) for each in own):
                self._absent[target] = _sent(own)
                continue
            if place is None:
                raise ConfigurationError(
                    f"Records of version {version} wait in {target!r} to be sent, and the program has no such sink any "
                    "more. Run it once with that sink, which sends them first."
                )
            before, files = own[0].at or 0, [output.pending for output in own if output.pending]
            if all(map(os.path.exists, files)):
                place.sink.send_step(files, self._job.folder_id or "", version, before)
            for path in files:
                Path(path).unlink(missing_ok=True)
            place.sent = before + sum(output.size or 0 for output in own)

    def keep(self, version: int) -> None:
        """Let sinks that send keep what says how much they have sent: where nothing is sent for days, it would be
        forgotten. To be called now and then while no step is run.

        Args:
            version: the newest one.

        Raises:
            ConfigurationError: a sink cannot.
        """
        for place in self._places.values():
            if place.sink.sends:
                place.sink.send_step([], self._job.folder_id or "", version, place.sent)

    def _write(self, table: Table, files: list[str], version: int) -> None:
        """Write a step's rows of a table, unless that has come to its end before: then their files are going."""
        assert self._write_table is not None, "a program with tables runs on Spark"
        storage = storage_of(files[0])
        if all(storage.size(path) is not None for path in files):
            self._write_table(table, files, version, self._job.folder_id or "")
        storage.delete(files)

    def _leave(self, operator_id: str, own: Sequence[Output], version: int) -> None:
        """What a sink has prepared that the program has not any more, and may leave behind."""
        LOG.warning(
            "What the sink with the operator ID %s has prepared for version %d is left behind: it is committed only if "
            "the earlier run has come to that.",
            operator_id,
            version,
        )
        for path in (each.pending for each in own if each.pending):
            storage_of(path).delete([path])

    def _is_gone(self, output: Output) -> bool:
        """Whether the program has not the sink any more that prepared it."""
        return output.committable is not None and output.target not in self._committers

    def _committer(self, operator_id: str) -> End:
        try:
            return self._committers[operator_id]
        except KeyError:
            raise ConfigurationError(
                f"A sink with the operator ID {operator_id} has prepared records, and the program has no such sink any "
                "more. Run it once with that sink, which commits them first; uid() keeps the ID of a sink when the "
                "program changes. To leave behind what it may not have committed, set "
                "execution.savepoint.ignore-unclaimed-state to true (--allow-non-restored-state)."
            ) from None

    def clean(self) -> None:
        """Remove what earlier runs, and attempts of this one that do not count, have left. Only while no task of this
        run works, and not between a manifest and the end of :meth:`publish`. A listing for each target.

        Raises:
            FencedError: another driver has the job folder, and what was found may be its own.
            ConfigurationError, OSError: the storage refuses.
        """
        found = [folder for own in self._folders for folder in earlier(own)]
        self._check_owner()  # after the listing: a successor that comes later has folders that were not in it
        for folder in found:
            remove(folder)
        for own in self._folders:
            empty(own)


def _published(deployment: Deployment) -> list[End]:
    return [end for end in deployment.ends if isinstance(end.sink, PublishedSink)]


def _check(place: _Place) -> None:
    """The target is free, or may be replaced, or takes files."""
    if is_local(place.target):
        Target.of(place.sink).check()
    else:
        StoreTarget.of(place.sink).check()


def _check_shape(place: _Place) -> None:
    """A text output that is there is a file where it is to be one, and a folder where it is to be that."""
    folder = os.path.isdir(place.target)
    if folder is (place.parallelism == 1):
        kind, other = ("a folder", "one subtask writes one file") if folder else ("a file", "several write a folder")
        raise ConfigurationError(
            f"The output {place.target!r} is {kind}, and its sink has a parallelism of {place.parallelism} now: "
            f"{other}. Give the sink the parallelism that it had, or another path."
        )


def _sent(own: Sequence[Output]) -> Output:
    """How far a sink has sent, all in all."""
    total = (own[0].at or 0) + sum(output.size or 0 for output in own)
    return replace(own[0], pending="", at=total, size=0)


def _first(place: _Place, files: Sequence[PendingFile]) -> list[Output]:
    """A text output that no step has made: whole, by one rename, with a file for each subtask; what else a subtask has
    is put behind that."""
    _check(place)
    single = place.parallelism == 1
    names: dict[str, PendingFile] = {}
    more = [file for file in files if names.setdefault(file.final, file) is not file]
    sizes = {final: waiting_size(file.pending) for final, file in names.items()}
    wanted = [place.target] if single else [join(place.target, str(index + 1)) for index in range(place.parallelism)]
    waiting = [(os.path.basename(final), names[final].pending if final in names else None) for final in wanted]
    new = put_whole(place.folder, waiting, single)
    return [Output(new, place.target, place.sink.overwrite), *_grown(more, sizes)]


def _grown(files: Sequence[PendingFile], sizes: dict[str, int]) -> list[Output]:
    """Text files that get more lines. How long they are, if it is not given, is what their file system says: all that
    was before has been published."""
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


def _committable(output: Output) -> Committable:
    data = base64.b64decode(output.committable or "")
    return Committable(output.target, 0, data, kept=bool(output.pending))
