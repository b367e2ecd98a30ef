"""What is in a savepoint, as its manifest and the headers of its state files say. Nothing is unpickled."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import SavepointError, StateError
from penstock.job.folder.manifest import OperatorState, Pickled, read_as
from penstock.job.folder.read_splits import EndedFile
from penstock.job.savepoint.checks import check_header
from penstock.job.savepoint.format import VERSION, AboutSavepoint, StoredSavepoint, damaged
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.state.files import AboutOperator, Header, StateReader
from penstock.runtime.state.keyed import StateInfo
from penstock.storage.storage import Storage, is_local, join
from penstock.storage.stores import storage_of

_AT_ONCE = 16  # files that are read at the same time


@dataclass(frozen=True)
class StateContent:
    """A keyed state of an operator."""

    name: str  # of the state; operators' own have names of their own
    kind: str  # such as ``ValueState``, or ``table``
    types: tuple[str, ...]  # as declared; "" where none was
    serializers: tuple[str, ...]
    version: int = 0  # of the last migration of its values; 0 without
    windows: str = ""  # which windows its values belong to; "" for none, or where the file does not say


@dataclass(frozen=True)
class OperatorContent:
    """An operator with state. Name, uid and parallelism are those when the savepoint was taken."""

    operator_id: str  # 32 hex digits
    name: str
    uid: str | None
    parallelism: int
    max_parallelism: int
    key: tuple[str, str] | None  # type of its keys as declared, and Flink's serializer; None without keyed state
    states: tuple[StateContent, ...]  # its keyed states, by name
    entries: int  # values, timers, and changes of both in all its files
    bytes: int  # of its files
    files: int  # how many there are
    event_timers: int  # at the most
    clock_timers: int
    list_bytes: int  # of its operator state: lists, broadcast
    broadcast: tuple[StateContent, ...] = ()  # its broadcast states, by name
    classes: Mapping[str, Any] = field(default_factory=dict[str, Any])  # what the classes of objects were, by name


@dataclass(frozen=True)
class SourceContent:
    """A source. Name and uid are those when the savepoint was taken."""

    operator_id: str  # 32 hex digits
    name: str
    uid: str | None
    positions: Mapping[str, Any]  # where reading continues, by split, as far as that is plain; else ``(pickled)``
    splits_ended: int  # how many splits have been read to their end
    records: int  # that it has emitted since the job began
    read_as: str = ""  # how it is read, as of :func:`~penstock.job.restore.matches.read_as`


@dataclass(frozen=True)
class Content:
    """All that a savepoint says."""

    place: str  # where it is
    about: AboutSavepoint  # what it says of itself
    operators: tuple[OperatorContent, ...]  # those with state, by name
    sources: tuple[SourceContent, ...]
    tasks_ended: Mapping[str, int]  # by ID of the first operator of a task, how many subtasks have ended
    loops: int  # how many bytes are on their way in loops, and in what tasks hand to themselves
    home: str | None = None  # the checkpoint directory that has its state files; None if it has its own


def content_of(savepoint: StoredSavepoint) -> Content:
    """What is in a savepoint. A request per file."""
    manifest = savepoint.manifest
    headers = read_headers(savepoint)
    operators = (_operator(operator_id, state, headers) for operator_id, state in manifest.operators.items())
    counters = manifest.counters.items()
    emitted = {key: sum(subtask.get("records_out", 0) for subtask in subtasks) for key, subtasks in counters}
    sources = (
        SourceContent(
            operator_id,
            source.name,
            source.uid,
            {split: "(pickled)" if type(at) is Pickled else at[1] for split, at in sorted(source.positions.items())},
            source.ended.count,
            emitted.get(operator_id, 0),
            read_as(source),
        )
        for operator_id, source in manifest.sources.items()
    )
    ended = {key: sum(task.finished for task in tasks) for key, tasks in manifest.tasks.items()}
    return Content(
        savepoint.place,
        savepoint.about,
        tuple(sorted(operators, key=lambda operator: (operator.name, operator.operator_id))),
        tuple(sorted(sources, key=lambda source: (source.name, source.operator_id))),
        {key: count for key, count in ended.items() if count},
        sum(len(task.volatile) for tasks in manifest.tasks.values() for task in tasks),
        savepoint.home,
    )


def read_headers(savepoint: StoredSavepoint) -> dict[str, Header]:
    """The headers of all state files, by name."""
    storage = storage_of(savepoint.place)
    wanted = list(state_files(savepoint))

    def read(placed: Placed) -> Header:
        with opened(storage, savepoint, placed) as reader:
            return reader.header

    if is_local(savepoint.place):
        headers = list(map(read, wanted))
    else:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            headers = list(pool.map(read, wanted))
    return {placed.file.name: header for placed, header in zip(wanted, headers, strict=True)}


@dataclass(frozen=True)
class Placed:
    """A state file in its place."""

    file: StateFile  # of the savepoint
    about: AboutOperator  # whose state should be in it
    follows: str | None  # name of the file before it in its series; None for the first


def state_files(savepoint: StoredSavepoint) -> Iterator[Placed]:
    """All state files, series by series."""
    for operator_id, operator in savepoint.manifest.operators.items():
        sizes = operator.parallelism, operator.max_parallelism
        for subtask, series in enumerate(operator.subtasks):
            about = AboutOperator(operator_id, operator.name, operator.uid, subtask, *sizes)
            names = (None, *(file.name for file in series))
            yield from (Placed(file, about, before) for before, file in zip(names, series, strict=False))


@contextlib.contextmanager
def opened(storage: Storage, savepoint: StoredSavepoint, placed: Placed) -> Iterator[StateReader]:
    """A state file, open within the block, with its header read and compared with what the savepoint says of it."""
    path, file = join(savepoint.state, placed.file.name), placed.file
    what = f"the state file {path!r} of {placed.about}"
    try:
        stream = storage.read(path)
    except OSError as error:
        raise damaged(savepoint.place, f"{what} cannot be read: {error}") from error
    with stream:
        try:
            reader = StateReader(path, stream, file.bytes, placed.about)
            _check(reader.header, placed)
        except StateError as error:
            raise damaged(savepoint.place, str(error)) from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError, OSError) as error:
            raise damaged(savepoint.place, f"{what} has a header that makes no sense: {error!r}") from error
        yield reader


def _check(header: Header, placed: Placed) -> None:
    file, about, recorded = placed.file, placed.about, header.about
    if header.checksum != file.checksum:
        raise ValueError("its checksum is not the one in the savepoint")
    ours = (file.kind, about.operator_id, about.subtask, about.parallelism, about.max_parallelism)
    theirs = (header.kind, recorded.operator_id, recorded.subtask, recorded.parallelism, recorded.max_parallelism)
    if ours != theirs:
        raise ValueError(f"it is of {theirs}, and the savepoint says {ours}")
    if header.follows != placed.follows:
        raise ValueError(f"it follows the file {header.follows!r}, and the savepoint says {placed.follows!r}")
    check_header(header, about.max_parallelism)


def _operator(operator_id: str, state: OperatorState, headers: Mapping[str, Header]) -> OperatorContent:
    files = [file for series in state.subtasks for file in series]
    all_headers = [headers[file.name] for file in files]
    all_series = [[headers[file.name] for file in series] for series in state.subtasks]
    states = _states(info for header in all_headers for info in header.states)
    classes = {name: form for header in all_headers for name, form in header.classes.items()}
    return OperatorContent(
        operator_id,
        state.name,
        state.uid,
        state.parallelism,
        state.max_parallelism,
        next(((key[1], key[0]) for key in (header.key for header in all_headers) if key is not None), None),
        states,
        sum(file.keys for file in files),
        sum(file.bytes for file in files),
        len(files),
        sum(_timers(series, 0) for series in all_series),
        sum(_timers(series, 1) for series in all_series),
        sum(header.operator_state.bytes for header in all_headers if header.operator_state is not None),
        _states(info for header in all_headers for info in header.broadcast),
        dict(sorted(classes.items())),
    )


def _states(infos: Iterable[StateInfo]) -> tuple[StateContent, ...]:
    named = {info.name: info for info in infos}
    contents = (
        StateContent(info.name, info.kind, info.types, info.serializers, info.version, info.windows)
        for info in named.values()
    )
    return tuple(sorted(contents, key=lambda state: state.name))


def _timers(series: list[Header], domain: int) -> int:
    """How many timers of a domain there are at the most after a series."""
    count = 0
    for header in series:
        if len(header.timers) > domain:
            timers = header.timers[domain]
            count = timers.count if timers.whole else count + timers.count
    return count


def as_json(value: Any) -> str:
    """Indented JSON of what dataclasses have become dictionaries of."""
    return json.dumps(value, indent=2, default=repr, ensure_ascii=False)


@dataclass(frozen=True)
class Verified:
    """The result of a look at all files."""

    files: int  # how many were read
    bytes: int
    problems: tuple[str, ...]  # a sentence for each file that is not as it was written, in order
    unnamed: tuple[str, ...]  # files in the folder that the savepoint does not name; they do no harm


def verify(savepoint: StoredSavepoint) -> Verified:
    """Read all files of a savepoint, which was checked itself when read. Nothing is unpickled. Linear in its bytes."""
    files = list(state_files(savepoint))
    ended = [file for source in savepoint.manifest.sources.values() for file in source.ended.files]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        problems = [*pool.map(lambda one: _state_problem(savepoint, one), files)]
        problems += pool.map(lambda one: _ended_problem(savepoint, one), ended)
    named = set(savepoint.manifest.files())
    has_files = savepoint.about.kind != VERSION and savepoint.reference is None
    listed = storage_of(savepoint.place).list(savepoint.state) if has_files else ()
    existing = {entry.path.rpartition("/")[2] for entry in listed}
    texts = tuple(problem for problem in problems if problem is not None)
    size = sum(placed.file.bytes for placed in files)
    return Verified(len(files) + len(ended), size, texts, tuple(sorted(existing - named)))


def _state_problem(savepoint: StoredSavepoint, placed: Placed) -> str | None:
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


def _ended_problem(savepoint: StoredSavepoint, file: EndedFile) -> str | None:
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
