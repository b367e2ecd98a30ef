"""Saves and restores the state of an operator's subtask as a series of state files: a snapshot, and logs after it. A
step writes a log of its changes, or a snapshot when the logs have become as long as the last snapshot. A log may
replace earlier logs; then it has the current values of all that they mention."""

from __future__ import annotations

import contextlib
import io
import pickle
import re
import shlex
import uuid
from collections.abc import Iterator, Mapping, Sequence

from penstock.errors import InvalidProgramError, PenstockError
from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.config.steps import Series
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.state.class_changes import GoneError, Reading, lost_in
from penstock.runtime.state.classes import ClassForm
from penstock.runtime.state.evolution import MIGRATION
from penstock.runtime.state.files import LOG, SNAPSHOT, AboutOperator, Header, StateReader, pack, state_error
from penstock.runtime.state.keyed import KeyedState, StateInfo
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.redistribution import BROADCAST
from penstock.runtime.state.replay import Replay, note_touched
from penstock.runtime.state.sections import Content, Earlier, Section, TimersInfo, log_of, snapshot_of
from penstock.runtime.state.type_changes import Refusal
from penstock.storage.storage import join, naming
from penstock.storage.stores import storage_of

MOST_LOGS = 64  # above this number some logs are merged, because a restore opens each
_HEADER_BYTES = 1_000  # an estimate of the length of a log's header
NOTHING = Content(None, (), (TimersInfo(True, 0), TimersInfo(True, 0)), (), 0)
_Places = dict[tuple[str, str], bytes]


def merged_from(series: Series, coming: int) -> int:
    """The index of the first file that the next log replaces: no file longer than all after it is rewritten."""
    start = len(series)
    if start <= MOST_LOGS:
        return start
    while start > 1 and (start == len(series) or series[start - 1].bytes <= coming):
        start -= 1
        coming += series[start].bytes
    return start


@contextlib.contextmanager
def open_state_file(folder: str, file: StateFile, about: AboutOperator, *, whole: bool) -> Iterator[StateReader]:
    """Open a file of a series; ``whole`` fetches it in one request."""
    path, storage = join(folder, file.name), storage_of(folder)
    try:
        with io.BytesIO(storage.get(path)) if whole else storage.read(path) as stream:
            size = stream.seek(0, io.SEEK_END)
            stream.seek(0)
            if size != file.bytes:
                raise state_error(path, about, f"should have {file.bytes} bytes and has {size}")
            yield StateReader(path, stream, size, about)
    except FileNotFoundError as error:
        raise state_error(path, about, "is not there") from error
    except OSError as error:
        raise state_error(path, about, f"cannot be read: {error}") from error


def read_earlier(folder: str, logs: Series, keyed: KeyedState | None, about: AboutOperator) -> Earlier:
    """The entries that some logs mention."""
    earlier = Earlier()
    for file in logs:
        with open_state_file(folder, file, about, whole=True) as reader:
            if keyed is not None:
                header = reader.header
                note_touched(earlier, keyed, header, reader.sections(about.groups), Reading(header.classes))
            data = reader.operator_state()
            if data is not None:
                earlier.places.update(decode_value(data))
    return earlier


def save(
    folder: str,
    keyed: KeyedState | None,
    operator_state: OperatorState | None,
    about: AboutOperator,
    series: Series,
    version: int,
    whole: bool = False,
) -> Series:
    """Write the changes since the last file of a series. Returns the series that the state is in now."""
    state, anew, before = operator_state or OperatorState(), whole, ()
    if state.rewrite or (keyed and keyed.rewrite):  # something differs from the files, so a snapshot is needed
        anew = anew or bool(series)
        state.rewrite = False
        state.forget_written()
        if keyed:
            keyed.rewrite = False
    series, changed = () if anew else series, state.changed()
    if series and not changed and not (keyed and keyed.has_changed()):
        return series
    coming = 0  # an estimate of the log's length, from the size of the snapshot's entries
    if series:
        entries = 0 if keyed is None else keyed.changed_entries()
        of_entries = entries * series[0].bytes // max(1, series[0].keys)
        coming = _HEADER_BYTES + sum(map(len, changed.values())) + of_entries
    if series and sum(log.bytes for log in series[1:]) + coming <= series[0].bytes:
        before = series[: merged_from(series, coming)]
        earlier = read_earlier(folder, series[len(before) :], keyed, about)
        if earlier.places:
            changed = {**{at: data for at, data in state.snapshot().items() if at in earlier.places}, **changed}
        content = NOTHING if keyed is None else log_of(keyed, earlier)
    else:
        content = NOTHING if keyed is None else snapshot_of(keyed)
        changed = state.snapshot() if series or anew else changed
    if series or anew or content.entries or changed:
        classes = {**state.noted.forms, **({} if keyed is None else keyed.noted.forms)}  # pickling has noted them
        infos = tuple(state.infos.values())
        series = (*before, write_file(folder, content, changed, about, version, before, infos, classes))
    if keyed:
        keyed.written()
    state.written(changed)
    return series


def write_file(
    folder: str,
    content: Content,
    places: Mapping[tuple[str, str], bytes],
    about: AboutOperator,
    version: int,
    series: Series,
    broadcast: tuple[StateInfo, ...],
    classes: Mapping[str, ClassForm],
) -> StateFile:
    """Write one state file under a unique name. Returns its entry for the manifest."""
    described = content.key, content.states, content.timers, content.entries, (), None, broadcast
    kind, follows = (LOG, series[-1].name) if series else (SNAPSHOT, None)
    header = Header(kind, about, version, follows, *described, dict(sorted(classes.items())))
    return put_file(folder, header, content.sections, dumps(places) if places else None)


def put_file(folder: str, header: Header, sections: Sequence[Section], operator_state: bytes | None) -> StateFile:
    """Write a state file with a given header under a unique name."""
    about = header.about
    name = f"{about.operator_id}-{about.subtask}-{header.version}-{uuid.uuid4().hex[:8]}"
    parts, size, checksum = pack(header, sections, operator_state)
    path = join(folder, name)
    with naming(path), storage_of(folder).writing(path) as file:
        file.writelines(parts)  # not joined: the copy would be as large as all of the state
    return StateFile(about.operator_id, name, header.kind, size, checksum, header.entries)


def load(
    folder: str,
    all_series: Sequence[Series],
    keyed: KeyedState | None,
    operator_state: OperatorState | None,
    about: AboutOperator,
    *,
    flink: str = "1.11",
    drops: bool = False,
    place: str = "",
) -> None:
    """Restore a subtask from the series of all old subtasks: its key groups, and its part of operator state."""
    snapshots: list[_Places] = []
    for series in all_series:
        if series and [file.kind for file in series] != [SNAPSHOT, *[LOG] * (len(series) - 1)]:
            path = join(folder, series[0].name)
            raise state_error(path, about, "begins a series that is not a snapshot followed by logs")
        replay = None if keyed is None else Replay(keyed, about.groups)
        places: _Places = {}
        for before, file in zip((None, *series), series, strict=False):
            with open_state_file(folder, file, about, whole=len(all_series) == 1) as reader:
                try:
                    places.update(_apply(reader, file, before, replay, about, operator_state, drops=drops))
                except GoneError as reason:
                    raise _refused(about, f"{reason}{_dropping(reader, about, place)}") from reason
        if replay is not None and series:
            replay.finish()
        snapshots.append(places)
    if operator_state is not None:
        operator_state.restore(snapshots, about.parallelism, about.subtask, flink=flink)


def repair(
    folder: str,
    series: Series,
    keyed: KeyedState | None,
    operator_state: OperatorState | None,
    about: AboutOperator,
    name: str,
) -> None:
    """Bring state that is at an earlier file of a series to the series's end."""
    first = [file.name for file in series].index(name) + 1
    replay = None if keyed is None else Replay(keyed, about.groups, resumed=True)
    for before, file in zip(series[first - 1 :], series[first:], strict=False):
        with open_state_file(folder, file, about, whole=True) as reader:
            places = _apply(reader, file, before, replay, about, operator_state)
        if operator_state is not None:
            operator_state.replace(places)
            operator_state.written(places)
    if replay is not None:
        replay.finish()


def _apply(
    reader: StateReader,
    file: StateFile,
    before: StateFile | None,
    replay: Replay | None,
    about: AboutOperator,
    state: OperatorState | None,
    *,
    drops: bool = False,
) -> _Places:
    header, follows = reader.header, None if before is None else before.name
    if (header.checksum, header.kind) != (file.checksum, file.kind):
        raise reader.error("is not the file that was written: its checksum differs")
    if (header.about.operator_id, header.follows) != (file.operator_id, follows):
        raise reader.error(f"belongs to {header.about} after the file {header.follows!r}, and not after {follows!r}")
    if header.about.max_parallelism != about.max_parallelism:
        raise reader.error(
            f"has {header.about.max_parallelism} key groups, and the operator {about.max_parallelism}",
            f"Set its max parallelism to {header.about.max_parallelism}.",
        )
    try:
        reading = Reading(header.classes, drops=drops)
        if state is not None:
            state.notes.update(dict.fromkeys(reading.notes, 0))
        if replay is not None and header.key is not None:
            check = replay.expect(header.key[1], header.states, reading)
            replay.apply(header, reader.sections(about.groups), reading, check)
        data = reader.operator_state()
        places: _Places = {} if data is None else decode_value(data)
        return places if state is None else _as_now(places, reading, state, header)
    except (PenstockError, GoneError):
        raise
    except Refusal as reason:
        raise _refused(about, str(reason)) from reason
    except (AttributeError, ImportError, LookupError, pickle.UnpicklingError, TypeError, ValueError) as error:
        raise reader.error(
            f"has a value that cannot be read: {type(error).__name__}: {error}",
            "Does the program still have the classes of its state and keys, under the same names? A class that is "
            "called otherwise now says so by @formerly('module.Name').",
        ) from error


def _dropping(reader: StateReader, about: AboutOperator, place: str) -> str:
    """The commands that make a savepoint without the states that have objects of missing classes; "" if unknown."""
    header, names = reader.header, dict[str, None]()
    try:
        reading = Reading(header.classes, drops=True)
        for _, _, data in reader.sections(about.groups):
            for number, _, _, values, _ in reading.loads(data)[1]:
                if lost_in(values):
                    names[header.states[number].name] = None
        data = reader.operator_state()
        for (_, name), value in ({} if data is None else decode_value(data)).items():
            if lost_in(reading.loads(value)):
                names[name] = None
    except Exception:  # no other damage may hide the reason
        return ""
    if not names or not place:
        return ""
    commands, old, base = list[str](), place, re.sub(r"@\d+$", "", place).rstrip("/")
    for number, name in enumerate(names):
        new = f"{base}-without" + (f"-{number + 1}" if number else "")
        commands.append(shlex.join(["penstock", "savepoint", "drop", old, new, about.uid or about.operator_id, name]))
        old = new
    return (
        f"; or start from the savepoint (--from-savepoint {shlex.quote(old)}) that this makes: {' && '.join(commands)}"
    )


def _refused(about: AboutOperator, reason: str) -> InvalidProgramError:
    return InvalidProgramError(
        f"The program cannot resume with the state of {about}: {reason}. Nothing has changed; to start without it, "
        "give the operator another uid.",
        flink_class=MIGRATION,
    )


def _as_now(places: _Places, reading: Reading, state: OperatorState, header: Header) -> _Places:
    for info in header.broadcast:
        state.forms[info.name] = state.infos[info.name] = info
    if reading.loads is decode_value:
        return places
    state.rewrite |= bool(reading.changed)
    now: _Places = {}
    for (kind, name), data in places.items():
        value = reading.loads(data)
        if reading.drops and (lost := lost_in(value)):
            if kind != BROADCAST:
                raise GoneError(lost)
            state.lost[name], state.rewrite = lost, True
            state.infos.pop(name, None)
        else:
            now[kind, name] = state.noted.dumps(value)
    return now
