"""Makes the outputs of a manifest visible: files get their names, bytes go behind those that are there, sinks send what
their files hold. Everything here can be repeated, by this driver or another, also at the same time: a file that does
not wait any more has been published, and bytes are put where the manifest says, so a second time over themselves."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from penstock.errors import ConfigurationError
from penstock.job.commit.checks import exists_already
from penstock.job.commit.folders import NEW, OLD, remove_output
from penstock.job.folder.manifest import Output
from penstock.runtime.io.pending_paths import pending_of
from penstock.runtime.io.sinks import PublishedSink
from penstock.storage.storage import is_local, join, naming, sync_folder
from penstock.storage.stores import Store

_BLOCK = 1 << 20


def publish_files(outputs: Sequence[Output]) -> None:
    """Publish those outputs of a manifest that are files with names."""
    named = [output for output in outputs if not output.sent]
    folders: dict[str, None] = {}
    for output in named:
        if not is_local(output.target):
            continue
        if output.at is not None:
            _append(output, output.at)
        else:
            _name(output)
        folders[os.path.dirname(output.target)] = None
        waited_in = os.path.dirname(output.pending)
        if (pending := pending_of(waited_in)) is None or pending.folder_id is not None:  # others are removed right now
            folders[waited_in] = None
    for folder in folders:
        with contextlib.suppress(FileNotFoundError):
            sync_folder(folder)
    _clear_old({os.path.dirname(output.pending) for output in named if _is_whole(output)})
    _give([output for output in named if not is_local(output.target)])


def _is_whole(output: Output) -> bool:
    """Whether it takes the place of all that was at its target."""
    return output.at is None and is_local(output.target) and os.path.basename(output.pending).startswith(NEW)


def _name(output: Output) -> None:
    new, target = Path(output.pending), Path(output.target)
    if not new.exists():
        return
    if not _is_whole(output):
        _make_folder(target.parent)
    elif target.exists():
        if not output.overwrite:
            raise exists_already(output.target)
        if not (new.is_file() and target.is_file()):
            os.rename(target, new.with_name(f"{OLD}{uuid.uuid4().hex}"))
    with contextlib.suppress(FileNotFoundError):  # a driver that was before this one has woken up, and has done it
        os.replace(new, target)


def _make_folder(folder: Path) -> None:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        sync_folder(path.parent)


def _append(output: Output, at: int) -> None:
    """Add a file to another, at the position in the manifest. It never cuts: bytes behind are a later driver's."""
    try:
        source = open(output.pending, "rb")  # noqa: SIM115 - it is closed below
    except FileNotFoundError:
        return
    with source:
        _make_folder(Path(output.target).parent)
        descriptor = os.open(output.target, os.O_WRONLY | os.O_CREAT, 0o666)
        with naming(output.target), open(descriptor, "wb") as target:
            stands = os.fstat(target.fileno()).st_size
            if stands < at:
                raise ConfigurationError(
                    f"The output {output.target!r} has {stands} bytes, and {at} had been written to it when the last "
                    f"step ended. Put the file back, or one of {at} bytes, and run the program again: the rest waits."
                )
            target.seek(at)
            shutil.copyfileobj(source, target, _BLOCK)
            target.flush()
            os.fsync(target.fileno())
    Path(output.pending).unlink(missing_ok=True)


def _clear_old(folders: Iterable[str]) -> None:
    """Remove what has been replaced; it has a name of ours, and is not read any more."""
    for folder in map(Path, folders):
        for path in folder.glob(f"{OLD}*") if folder.is_dir() else ():
            if path.is_dir():
                remove_output(path)
            else:
                path.unlink(missing_ok=True)


def _give(outputs: Sequence[Output]) -> None:
    """On stores files are copied, and then those that waited are removed."""
    by_folder: dict[str, list[Output]] = {}
    for output in outputs:
        by_folder.setdefault(output.pending.rpartition("/")[0], []).append(output)
    for folder, of_folder in by_folder.items():
        pending = pending_of(folder)
        old = [] if pending is None or pending.inside else _replaced(pending.target, of_folder)
        store, pairs = Store(folder), [(output.pending, output.target) for output in of_folder]
        if old and store.has_folders:  # there a file and a folder cannot have one name
            store.delete(old)
            if pending is not None and pending.target in (output.target for output in of_folder):
                store.remove_folder(pending.target)
        try:
            store.give(pairs)
        except FileNotFoundError:
            waiting = {entry.path for entry in store.list(folder)}
            due = [pair for pair in pairs if pair[0] in waiting]
            if due:
                store.give(due)
        if old and not store.has_folders:
            store.delete(old)
        store.delete(path for path, _ in pairs)


def _replaced(target: str, outputs: Sequence[Output]) -> list[str]:
    """The files that a text output on a store replaces at its target: one file, or numbered ones."""
    if not any(output.overwrite for output in outputs):
        return []
    new = {output.target for output in outputs}
    paths = (entry.path for entry in Store(target).list(target) if entry.size >= 0)
    return [path for path in paths if (path == target or path.rpartition("/")[2].isdigit()) and path not in new]


def send(
    sink: PublishedSink,
    outputs: Sequence[Output],
    owner: str,
    version: int,
    check: Callable[[], None] | None = None,
    *,
    last: bool = False,
) -> int:
    """Have a sink send what its files of a manifest hold, and remove them. Returns how many bytes were sent in all."""
    before, files = outputs[0].at or 0, [output.pending for output in outputs if output.pending]
    if all(map(os.path.exists, files)):
        sink.send(files, owner, version, before, check, last=last)
    for path in files:
        Path(path).unlink(missing_ok=True)
    return before + sum(output.size or 0 for output in outputs)


def waiting_size(path: str) -> int:
    """Bytes of a local file, 0 if there is none."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.getsize(path)
    return 0


def put_whole(folder: str, files: Sequence[tuple[str, str | None]], single: bool) -> str:
    """Put files (name, where it waits; None for an empty one) under one name, so that one rename publishes them."""
    new = join(folder, f"{NEW}{uuid.uuid4().hex}")
    if not single:
        os.mkdir(new)
    for name, pending in files:
        place = new if single else join(new, name)
        if pending is not None:
            os.rename(pending, place)
            continue
        with open(place, "wb") as file:
            os.fsync(file.fileno())
    if not single:
        sync_folder(new)
    sync_folder(folder)
    return new


def by_target(outputs: Sequence[Output]) -> Mapping[str, list[Output]]:
    """Outputs by their target, in order."""
    grouped: dict[str, list[Output]] = {}
    for output in outputs:
        grouped.setdefault(output.target, []).append(output)
    return grouped
