"""Writes state into the files of a savepoint, distributed by key group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from penstock.errors import SavepointError, StateError
from penstock.job.folder.manifest import OperatorState
from penstock.job.savepoint.contents import opened, state_files
from penstock.job.savepoint.format import StoredSavepoint, damaged
from penstock.runtime.checkpoint.operator_state import NOTHING, put_file, write_file
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.state.classes import ClassForm
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.sections import snapshot_of
from penstock.savepoints.operator_state import Subtask, only_operator
from penstock.savepoints.pickles import refuse_unmade, unmade_in
from penstock.storage.stores import storage_of


def descriptions_of(operator_id: str, state: OperatorState) -> list[AboutOperator]:
    """The file headers' descriptions of an operator, by subtask."""
    sizes = state.parallelism, state.max_parallelism
    return [AboutOperator(operator_id, state.name, state.uid, index, *sizes) for index in range(state.parallelism)]


def write_state(folder: str, about: AboutOperator, subtask: Subtask, version: int) -> tuple[StateFile, ...]:
    """Write a subtask's state as a chain of one file, or of none if it is empty."""
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
        refuse_unmade(chain(values, timers), f"The state of {about}")
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
    storage, chains = storage_of(savepoint.place), [list[StateFile]() for _ in range(new.parallelism)]
    who = descriptions_of(new_id, new)
    for placed in state_files(only_operator(savepoint, operator_id)):
        chain = chains[placed.about.subtask]
        with opened(storage, savepoint, placed) as reader:
            header, groups = reader.header, range(new.max_parallelism)
            try:
                sections, data = list(reader.sections(groups)), reader.operator_state()
            except StateError as error:
                raise damaged(savepoint.place, str(error)) from error
        follows = chain[-1].name if chain else None
        about = who[placed.about.subtask]
        moved = put_file(folder, replace(header, about=about, follows=follows), sections, data)
        chain.append(replace(moved, keys=placed.file.keys))
    return replace(new, subtasks=tuple(map(tuple, chains)))


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
