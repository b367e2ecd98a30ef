"""Reads and writes the state of an operator in a savepoint, subtask by subtask, without the program."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.errors import SavepointError, StateError
from penstock.job.folder.manifest import OperatorState
from penstock.job.savepoint.contents import Placed, opened, state_files
from penstock.job.savepoint.format import StoredSavepoint, damaged
from penstock.runtime.checkpoint.state_series import NOTHING, put_file, write_file
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.state.classes import ClassForm
from penstock.runtime.state.files import AboutOperator, Header, StateReader
from penstock.runtime.state.keyed import KeyedState, StateInfo
from penstock.runtime.state.replay import Replay
from penstock.runtime.state.sections import snapshot_of
from penstock.runtime.state.type_changes import Refusal
from penstock.runtime.state.type_texts import type_of
from penstock.savepoints.pickles import PlainReading, TrustingReading, refuse_unmade, unmade_in, unread_error
from penstock.storage.stores import storage_of

IN_ROW = "InRow(key_type="


@dataclass
class Subtask:
    """The state of a subtask."""

    keyed: KeyedState | None = None
    places: dict[tuple[str, str], bytes] = field(default_factory=dict[tuple[str, str], bytes])
    broadcast: dict[str, StateInfo] = field(default_factory=dict[str, StateInfo])
    classes: dict[str, Any] = field(default_factory=dict[str, Any])
    loads: Any = None
    readings: list[Any] = field(default_factory=list[Any])

    @property
    def unmade(self) -> bool:
        return any(getattr(reading, "unmade", None) for reading in self.readings)


def operator_id(uid: str) -> str:
    """The OperatorID of a uid."""
    from penstock.plan import operator_id  # loads the native module

    return operator_id(uid)


def find_operator_id(operators: Any, name: str, where: str) -> str:
    """The OperatorID of an entry, by uid or OperatorID."""
    named = [known_id for known_id, known in operators.items() if known.uid == name]
    named += [known_id for known_id in (name, operator_id(name)) if known_id in operators]
    if not named:
        known = ", ".join(
            repr(known_id) if state.uid is None else repr(state.uid) for known_id, state in sorted(operators.items())
        )
        raise SavepointError(
            f"{where} has no operator with the uid or OperatorID {name!r}. It has: {known or 'none'}. "
            "'penstock savepoint show' lists them."
        )
    return named[0]


def subtasks(
    savepoint: StoredSavepoint, operator_id: str, *, unpickle: bool, groups: int | None = None, which: int | None = None
) -> Iterator[Subtask]:
    """The states of an operator's subtasks, one after the other."""
    state = savepoint.manifest.operators[operator_id]
    size, place = groups or state.max_parallelism, savepoint.place
    all_series: list[list[Placed]] = [[] for _ in range(state.parallelism)]
    for placed in state_files(only_operator(savepoint, operator_id)):
        all_series[placed.about.subtask].append(placed)
    storage = storage_of(place)
    for series in all_series if which is None else all_series[which : which + 1]:
        subtask = Subtask()
        replay: Replay | None = None
        for placed in series:
            with opened(storage, savepoint, placed) as reader, _naming_errors(reader.header, subtask, place):
                replay = _apply(reader, subtask, replay, state, size, unpickle)
        if replay is not None:
            replay.finish()
        yield subtask


def only_operator(savepoint: StoredSavepoint, operator_id: str) -> StoredSavepoint:
    """The savepoint with one operator only."""
    manifest = savepoint.manifest
    return replace(savepoint, manifest=replace(manifest, operators={operator_id: manifest.operators[operator_id]}))


def _apply(
    reader: StateReader, subtask: Subtask, replay: Replay | None, state: OperatorState, groups: int, unpickle: bool
) -> Replay | None:
    header = reader.header
    reading: Any = TrustingReading(header.classes) if unpickle else PlainReading()
    subtask.readings.append(reading)
    if header.key is not None:
        if replay is None:
            subtask.keyed = KeyedState(KeyHash(key_type(header.key[0], header.key[1])), groups)
            replay = Replay(subtask.keyed, range(state.max_parallelism))
        for info in header.states:
            if subtask.keyed and (info.serializers or info.types):  # the version and windows count only for values
                subtask.keyed.infos.setdefault(info.name, info._replace(version=0, windows=""))
        replay.apply(header, reader.sections(range(state.max_parallelism)), reading, None)
    data = reader.operator_state()
    if data is not None:
        subtask.places.update(reading.loads(data))
    subtask.broadcast.update((info.name, info) for info in header.broadcast)
    subtask.classes.update(header.classes)
    subtask.loads = reading.loads
    return replay


@contextlib.contextmanager
def _naming_errors(header: Header, subtask: Subtask, place: str) -> Iterator[None]:
    try:
        yield
    except StateError as error:
        raise damaged(place, str(error)) from error
    except SavepointError:
        raise
    except Refusal as reason:
        raise SavepointError(f"The state of {header.about} cannot be read: {reason}.") from reason
    except Exception as error:
        reading = subtask.readings[-1] if subtask.readings else None
        if unmade := getattr(reading, "unmade", None):
            name, trusting = ".".join(next(iter(unmade))), isinstance(reading, TrustingReading)
            raise unread_error(f"The state of {header.about}", name, unpickle=trusting) from error
        raise SavepointError(
            f"The state of {header.about} cannot be read: {type(error).__name__}: {error}. Are the classes of its "
            "values importable here, under their old names?"
        ) from error


def key_type(serializer: str, text: str) -> TypeInformation[Any] | None:
    """The type of keys, from the text in a header."""
    try:
        if text.startswith(IN_ROW):
            inner = text.removeprefix(IN_ROW).removesuffix(")")
            return InRow(None if inner == "None" else type_of(inner))
        return type_of(text)
    except ValueError as error:
        raise SavepointError(f"The keys are of a type that cannot be read ({serializer}): {error}.") from error


def descriptions_of(operator_id: str, state: OperatorState) -> list[AboutOperator]:
    """The file headers' descriptions of an operator, by subtask."""
    sizes = state.parallelism, state.max_parallelism
    return [AboutOperator(operator_id, state.name, state.uid, index, *sizes) for index in range(state.parallelism)]


def write_state(folder: str, about: AboutOperator, subtask: Subtask, version: int) -> tuple[StateFile, ...]:
    """Write a subtask's state as a series of one file, or of none if it is empty."""
    keyed = subtask.keyed
    try:
        content = NOTHING if keyed is None else snapshot_of(keyed)
    except RecursionError as error:
        raise SavepointError(
            f"The state of {about} has a value that cannot be pickled: it is nested too deeply."
        ) from error
    if not (content.entries or subtask.places):
        return ()
    if subtask.unmade and keyed is not None:
        tables = [item for _, namespaces in keyed.tables() for item in namespaces.items()]
        values = ([namespace, [*map(keyed.key_of, table)], [*table.values()]] for namespace, table in tables)
        timers = ((timer.key, timer.namespace) for _, queue in keyed.queues() for timer in queue)
        refuse_unmade(itertools.chain(values, timers), f"The state of {about}")
    noted = {} if keyed is None else keyed.noted.forms
    classes = {**_classes_of_places(subtask), **noted}
    broadcast = tuple(subtask.broadcast.values())
    return (write_file(folder, content, subtask.places, about, version, (), broadcast, classes),)


def _classes_of_places(subtask: Subtask) -> Mapping[str, ClassForm]:
    """The classes for operator state, which is copied; missing ones are left out if no value has objects of them."""
    if not subtask.places:
        return {}
    lost = {f"{module}:{name}" for reading in subtask.readings for module, name in getattr(reading, "unmade", ())}
    if not lost or any(unmade_in(subtask.loads(data)) is not None for data in subtask.places.values()):
        return subtask.classes
    return {name: form for name, form in subtask.classes.items() if name not in lost}


def copy_readdressed(
    savepoint: StoredSavepoint, operator_id: str, folder: str, new_id: str, new: OperatorState
) -> OperatorState:
    """Copy the files of an operator for another one, with new headers. Nothing is unpickled."""
    storage, all_series = storage_of(savepoint.place), [list[StateFile]() for _ in range(new.parallelism)]
    who = descriptions_of(new_id, new)
    for placed in state_files(only_operator(savepoint, operator_id)):
        series = all_series[placed.about.subtask]
        with opened(storage, savepoint, placed) as reader:
            header, groups = reader.header, range(new.max_parallelism)
            try:
                sections, data = list(reader.sections(groups)), reader.operator_state()
            except StateError as error:
                raise damaged(savepoint.place, str(error)) from error
        follows = series[-1].name if series else None
        moved = put_file(folder, replace(header, about=who[placed.about.subtask], follows=follows), sections, data)
        series.append(replace(moved, keys=placed.file.keys))
    return replace(new, subtasks=tuple(map(tuple, all_series)))


def distribute(parts: Iterable[KeyedState | None], parallelism: int) -> Iterator[KeyedState]:
    """Distribute keyed state among subtasks, by key group."""
    known_parts = [part for part in parts if part is not None]
    if not known_parts:
        return
    first = known_parts[0]
    new = [KeyedState(first.key_hash, first.max_parallelism, first.clock) for _ in range(parallelism)]
    for part in known_parts:
        for keyed in new:
            _describe(keyed, part)
        for name, namespaces in part.tables():
            for namespace, table in namespaces.items():
                columns: list[tuple[list[Any], list[Any]]] = [([], []) for _ in new]
                for slot, value in table.items():
                    key = part.key_of(slot)
                    keys, values = columns[_subtask(part, key, parallelism)]
                    keys.append(key)
                    values.append(value)
                for keyed, (keys, values) in zip(new, columns, strict=True):
                    keyed.keep_keys(True)
                    if keys:
                        keyed.fill(name, namespace, keys, values)
        for index, (_, queue) in enumerate(part.queues()):
            for timer in queue:
                keyed = new[_subtask(part, timer.key, parallelism)]
                target = (keyed.event_timers, keyed.processing_timers)[index]
                target.add(timer.time, keyed.enter(timer.key), timer.key, timer.namespace)
    for keyed in new:
        keyed.resume(None, None)
        yield keyed


def _describe(keyed: KeyedState, part: KeyedState) -> None:
    for name, info in part.infos.items():
        known = keyed.infos.setdefault(name, info)
        if (known.kind, known.types, known.version) != (info.kind, info.types, info.version):
            raise SavepointError(
                f"The state {name!r} is in two forms: some subtasks have used it since it was changed, and "
                "some have not. Run the program once from this savepoint, and take another one."
            )
        keyed.infos[name] = info


def _subtask(part: KeyedState, key: Any, parallelism: int) -> int:
    return part.group(key) * parallelism // part.max_parallelism
