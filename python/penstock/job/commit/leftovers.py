"""The leftovers of a crashed job beside its outputs, and what becomes of them.

A job that commits once is finished if it was committed, else removed: by the next job that writes to one of its
targets, or by ``penstock clean``. Folders of a job with a checkpoint directory are its next run's business; ``penstock
clean`` removes them if no driver lives and the newest checkpoint needs nothing in them.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from penstock.errors import (
    CheckpointDirectoryError,
    ConfigurationError,
    DirectoryHeldError,
    InvalidProgramError,
    PenstockError,
)
from penstock.job.commit.checks import check_files, check_target, exists_already
from penstock.job.commit.folders import COMMIT, NEW, Marker, pending_in, read_marker, remove, stranger
from penstock.job.commit.publication import by_target, publish_files, send
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.manifest import Output
from penstock.job.folder.owners import LEASE_SECONDS, Lock, check_free
from penstock.job.folder.single import SingleCommit
from penstock.runtime.io.pending_paths import ATTEMPT, PendingFolder, pending_of
from penstock.runtime.io.sinks import PublishedSink
from penstock.storage.storage import is_local, join, parents, real_place
from penstock.storage.stores import Store, storage_of

Senders = Mapping[str, PublishedSink]  # the sinks that send their files, by target
NOBODY: Senders = MappingProxyType({})


class Verdict(Enum):
    """The fate of a leftover."""

    PUBLISH = "publish"  # the job was committed: its outputs are published
    REMOVE = "remove"  # the job was not committed: it has not happened
    RUNNING = "running"  # its driver lives, or may live
    LEAVE = "leave"  # it is not Penstock's, or something is in the way; the reason says what


@dataclass(frozen=True)
class Leftover:
    """Pending folders of one job."""

    folder: str  # the job's home if it commits once, else the folder itself
    job: str | None  # None if unknown
    targets: tuple[str, ...]
    verdict: Verdict  # what became of it, or would
    reason: str = ""  # why it was left


def pending_at(path: str) -> Iterator[str]:
    """The pending folders of an output (path or URL), and of outputs in it if it is a folder, one level deep."""
    place = real_place(path)
    if pending_of(place) is not None:
        yield place
        return
    above = next(parents(place), None)
    if is_local(place) and above is not None and not os.path.isdir(above):
        raise ConfigurationError(f"The folder {above!r} does not exist, so nothing waits in it.")
    yield from _of(place, above)
    yield from pending_in(place)
    for folder in _folders(place):
        if pending_of(folder) is None:
            yield from _of(folder, folder)


def _of(target: str, folder: str | None) -> list[str]:
    paths = [] if folder is None else pending_in(folder)
    return [path for path in paths if (pending := pending_of(path)) is not None and pending.target == target]


def _folders(place: str) -> list[str]:
    if not is_local(place):
        return [entry.path for entry in Store(place).list(place) if entry.size < 0]
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(place) as entries:
        return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    return []


def settle(target: str, *, adds: bool, senders: Senders = NOBODY) -> None:
    """Before a job writes to a target: finish or remove what an earlier one that commits once has left of it."""
    above = next(parents(target), None)
    inside = _of(target, target) if adds else []
    for folder in (*_of(target, above), *inside):
        if _pending(folder).folder_id is not None:
            continue
        leftover = recover(folder, senders=senders)
        if leftover is not None and leftover.verdict is Verdict.RUNNING and folder not in inside:
            stored = not is_local(target)
            running = f", or has died in the last {LEASE_SECONDS:.0f} seconds" if stored else ""
            end = f"`penstock clean --dead {target}` ends the wait" if stored else f"remove {leftover.folder!r} by hand"
            job = "a job" if leftover.job is None else f"the job {leftover.job!r}"
            raise ConfigurationError(
                f"The output {target!r} is that of {job} too, which is still running{running}. Wait for it, "
                f"or write elsewhere. If its driver is dead, {end}."
            )
        if leftover is not None and leftover.verdict is Verdict.LEAVE and leftover.job is not None:
            raise ConfigurationError(
                f"An earlier run of the job {leftover.job!r} has left the output {target!r} unfinished, and it cannot "
                f"be cleaned up: {leftover.reason}"
            )


def check_targets(sinks: Sequence[tuple[PublishedSink, str]], *, resumed: bool) -> None:
    """Settle the targets of a program's sinks, with names: none is inside another's, nor the same unless all add files.

    ``resumed``: an earlier run of the program has written to them.
    """
    senders = {sink.place(): sink for sink, _ in sinks if sink.sends}
    writers: dict[str, str] = {}
    folders: dict[str, str] = {}  # all that contain an output, and a sink that writes there
    adding: set[str] = set()
    for sink, name in sinks:
        place = sink.place()
        settle(place, adds=sink.adds, senders=senders)
        if sink.adds or not resumed:
            check_target(place, overwrite=sink.overwrite, adds=sink.adds)
        around = (writers[path] for path in (place, *parents(place)) if path in writers)
        first = next(around, folders.get(place))
        if first is not None and sink.sends:
            raise InvalidProgramError(
                f"The sinks {first!r} and {name!r} have the same transactional id prefix, by which each would end the "
                "transactions of the other. Give each its own."
            )
        if first is not None and not (sink.adds and place in adding):
            raise InvalidProgramError(
                f"The sinks {first!r} and {name!r} both write to {place!r}, or one inside the folder of the other. "
                "Give each its own path, or unite the streams before one sink."
            )
        writers[place] = name
        folders.update(dict.fromkeys(parents(place), name))
        if sink.adds:
            adding.add(place)


def recover(folder: str, *, dry_run: bool = False, dead: bool = False, senders: Senders = NOBODY) -> Leftover | None:
    """Finish or remove the job of a pending folder, unless its driver lives (``dead``: it is known not to).

    It can be repeated. Returns what was done, or would be (``dry_run``); None if the folder is gone."""
    leftover = Leftover(folder, None, (_pending(folder).target,), Verdict.REMOVE)
    try:
        marker = read_marker(folder)
        if marker is None and not _is_there(folder):
            return None
        if marker is not None:
            leftover = replace(leftover, job=marker.job)
        if _pending(folder).folder_id is not None:
            if marker is None:
                raise ConfigurationError(f"{folder!r} does not say whose it is. Remove it by hand.")
            with _free(marker.job_folder, _pending(folder).folder_id) as job:
                _check_not_needed(folder, job)
                if not dry_run:
                    remove(folder)
            return leftover
        if marker is None:
            return _unmarked(folder, leftover, dry_run, dead)
        targets = tuple(_pending(pending).target for pending in marker.folders)
        leftover = replace(leftover, folder=marker.folders[0], targets=targets)
        return _finish(folder, marker, leftover, dry_run, dead, senders)
    except DirectoryHeldError:
        return replace(leftover, verdict=Verdict.RUNNING)
    except (OSError, PenstockError) as error:
        return replace(leftover, verdict=Verdict.LEAVE, reason=str(error)) if _is_there(folder) else None


def _pending(folder: str) -> PendingFolder:
    pending = pending_of(folder)
    assert pending is not None, "the name is that of a pending folder"
    return pending


def _is_there(folder: str) -> bool:
    """Whether a pending folder is there; where the storage cannot say so, it is."""
    if is_local(folder):
        return os.path.isdir(folder)
    with contextlib.suppress(OSError, PenstockError):
        return bool(Store(folder).list(folder))
    return True


@contextlib.contextmanager
def _free(place: str, folder_id: str | None) -> Iterator[JobFolder]:
    """The checkpoint directory, which no driver has, nor takes within the block if there are locks."""
    job = JobFolder(place)
    about = job.files.about()
    if about is None or about.id != folder_id:
        raise CheckpointDirectoryError(
            f"The checkpoint directory {place!r}, which says whether it is needed, is not there. If it was removed, "
            "and no job runs with it on another machine, remove this by hand."
        )
    owners = job.files.owners
    lock = Lock(owners.folder)
    try:
        check_free(owners, owners.highest(), lock)
        yield job
    finally:
        lock.release()


def _check_not_needed(folder: str, job: JobFolder) -> None:
    """Nothing in a folder is named by the newest manifest."""
    newest = job.newest()
    outputs = () if newest is None else newest.outputs
    named = {output.pending for output in outputs if output.pending.startswith(f"{folder}/")}
    waiting = {entry.path for entry in storage_of(folder).list(folder)}
    if named & waiting:
        raise CheckpointDirectoryError(
            f"Checkpoint {newest.version if newest else 0} of the checkpoint directory {job.place!r} was committed, "
            "and what it has made is not visible yet. Run the program again with that checkpoint directory: it makes "
            "it visible, and goes on."
        )


def _unmarked(folder: str, leftover: Leftover, dry_run: bool, dead: bool) -> Leftover:
    """A folder whose creation or removal was interrupted; without its marker a job does not count."""
    strange = stranger(folder)
    if strange is not None:
        return replace(leftover, verdict=Verdict.LEAVE, reason=f"{strange!r} in it is not known to be Penstock's.")
    single = SingleCommit(join(folder, COMMIT), "")
    if single.exists():
        with single.taken_over(dead=dead):
            if not dry_run and remove(folder):
                single.remove()
    elif not dry_run:
        remove(folder)
    return leftover


def _finish(folder: str, marker: Marker, leftover: Leftover, dry_run: bool, dead: bool, senders: Senders) -> Leftover:
    home = marker.folders[0]
    single = SingleCommit(marker.job_folder, marker.job)
    if read_marker(home) != marker or not single.exists():
        raise ConfigurationError(
            f"{home!r}, which says whether the job was committed, is missing or was changed. Restore it, or "
            f"remove {folder!r} by hand."
        )
    with single.taken_over(dead=dead) as manifest:
        _check(marker, () if manifest is None else manifest.outputs, senders)
        if not dry_run:
            before, manifest = manifest, single.give_up()
            if manifest is not None:
                if before is None:  # a driver that was only slow has committed meanwhile
                    _check(marker, manifest.outputs, senders)
                publish_files(manifest.outputs)
                for target, outputs in _to_send(manifest.outputs).items():
                    send(senders[target], outputs, marker.job_id, 1, last=True)
            if all(remove(pending) for pending in reversed(marker.folders)):
                single.remove()
    return leftover if manifest is None else replace(leftover, verdict=Verdict.PUBLISH)


def _check(marker: Marker, outputs: tuple[Output, ...], senders: Senders) -> None:
    """Everything is as a job leaves it, and can be published."""
    for output in outputs:
        pending = pending_of(output.pending.rpartition("/")[0])
        if not output.pending and output.sent:
            continue
        if pending is None or not _is_ours(output, pending, marker):
            raise ConfigurationError(f"Its manifest publishes {output.target!r} from elsewhere, which no job does.")
        base = pending.target if pending.inside else pending.target.rpartition("/")[0]
        if is_local(base) and not os.path.isdir(base):
            raise ConfigurationError(f"The folder of {output.target!r} is not there. Is a file system not mounted?")
        if not is_local(output.target) and not output.overwrite:
            store = Store(output.pending)
            waits, stands = store.size(output.pending), store.size(output.target)
            if waits is not None and stands is not None and waits != stands:  # so it is no copy of it
                raise exists_already(output.target)
    for folder in marker.folders:
        strange = stranger(folder)
        if strange is not None:
            raise ConfigurationError(f"{strange!r} in {folder!r} was not written by Penstock; remove it.")
    for target in _to_send(outputs).keys() - senders.keys():
        raise ConfigurationError(
            f"Records wait in {target!r} to be sent, and only the program with that sink can send them. Run it again: "
            "it sends them first."
        )
    check_files(outputs)


def _is_ours(output: Output, pending: PendingFolder, marker: Marker) -> bool:
    """Whether an output waits where that of a job waits, and goes where this place says."""
    folder, _, name = output.pending.rpartition("/")
    if folder not in marker.folders or ".." in Path(output.target).parts:
        return False
    if re.fullmatch(rf"{NEW}[0-9a-f]{{32}}", name):
        return output.target == pending.target and not pending.inside
    if not re.fullmatch(ATTEMPT, name):
        return False
    if output.target == pending.target:
        return output.sent or not pending.inside
    return output.target.startswith(f"{pending.target}/")


def _to_send(outputs: tuple[Output, ...]) -> dict[str, list[Output]]:
    """The outputs that are still to be sent, with those that have been, by target."""
    sent = by_target([output for output in outputs if output.sent and output.pending]).items()
    return {target: files for target, files in sent if any(os.path.exists(file.pending) for file in files)}
