"""Every byte of a savepoint against its checksums."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from penstock.errors import SavepointError, StateError
from penstock.job.folder.ended import EndedFile
from penstock.job.savepoint.contents import Placed, opened, state_files
from penstock.job.savepoint.format import VERSION, Savepoint
from penstock.storage.storage import join
from penstock.storage.stores import storage_of

_AT_ONCE = 8


@dataclass(frozen=True)
class Verified:
    """What a look at all files has found."""

    files: int  # how many were read
    bytes: int
    problems: tuple[str, ...]  # a sentence for each file that is not as it was written, in order
    unnamed: tuple[str, ...]  # files in the folder that the savepoint does not name; they do no harm


def verify(savepoint: Savepoint) -> Verified:
    """Read all files of a savepoint, which was checked itself when read. Nothing is unpickled. Linear in its bytes."""
    files = list(state_files(savepoint))
    ended = [file for source in savepoint.manifest.sources.values() for file in source.ended.files]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        problems = [*pool.map(lambda one: _state_problem(savepoint, one), files)]
        problems += pool.map(lambda one: _ended_problem(savepoint, one), ended)
    named = set(savepoint.manifest.files())
    own = savepoint.about.kind != VERSION and savepoint.reference is None
    there = _names(savepoint) if own else set[str]()
    found = tuple(problem for problem in problems if problem is not None)
    size = sum(placed.file.bytes for placed in files)
    return Verified(len(files) + len(ended), size, found, tuple(sorted(there - named)))


def _names(savepoint: Savepoint) -> set[str]:
    return {entry.path.rpartition("/")[2] for entry in storage_of(savepoint.place).list(savepoint.state)}


def _state_problem(savepoint: Savepoint, placed: Placed) -> str | None:
    storage, file = storage_of(savepoint.place), placed.file
    path = join(savepoint.state, file.name)
    try:
        with opened(storage, savepoint, placed) as reader:
            for _ in reader.sections(range(placed.about.max_parallelism)):
                pass
            reader.operator_state()
        size = storage.size(path)
    except (SavepointError, StateError) as error:
        return str(error)
    except (OSError, ValueError, TypeError, OverflowError) as error:
        return f"{path!r} cannot be read: {error}"
    return None if size == file.bytes else f"{path!r} has {size} bytes and should have {file.bytes}"


def _ended_problem(savepoint: Savepoint, file: EndedFile) -> str | None:
    path = join(savepoint.state, file.name)
    try:
        data = storage_of(savepoint.place).get(path)
    except OSError as error:
        return f"{path!r} cannot be read: {error}"
    if hashlib.sha256(data).hexdigest() != file.checksum:
        return f"{path!r} is damaged: its checksum is not the one in the savepoint"
    try:
        splits = json.loads(data)
    except (ValueError, RecursionError) as error:
        return f"{path!r} is not JSON: {error}"
    if type(splits) is not list or len(splits) != file.count or any(type(split) is not str for split in splits):
        return f"{path!r} does not have the {file.count} splits that the savepoint says"
    return None
