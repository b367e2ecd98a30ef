"""State as files of a savepoint: what subtasks have, dealt out by key group and written down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from penstock.errors import SavepointError, StateError
from penstock.job.folder.manifest import OperatorState
from penstock.job.savepoint.contents import opened, state_files
from penstock.job.savepoint.format import Savepoint as Place
from penstock.job.savepoint.format import damaged
from penstock.runtime.checkpoint.saving import NOTHING, put_file, write_file
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.io.stores import storage_of
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.sections import snapshot_of
from penstock.savepoints.loading import Subtask, alone
from penstock.savepoints.pickles import refused, unmade_in


def abouts(operator_id: str, state: OperatorState) -> list[AboutOperator]:
    """What the files of an operator say of it, by subtask."""
    sizes = state.parallelism, state.max_parallelism
    return [AboutOperator(operator_id, state.name, state.uid, each, *sizes) for each in range(state.parallelism)]


def written(folder: str, about: AboutOperator, subtask: Subtask, version: int) -> tuple[StateFile, ...]:
    """Write what a subtask has, as a chain of one file; of none if there is nothing.

    Args:
        folder: for state files.
        about: whose state.
        subtask: what there is.
        version: of the job's state.

    Raises:
        SavepointError: something in it was not made, so it cannot be written.
        OSError: the file cannot be written.
    """
    keyed = subtask.keyed
    content = NOTHING if keyed is None else snapshot_of(keyed)
    if not (content.entries or subtask.places):
        return ()
    if subtask.unmade:
        _check(about, subtask)
    noted = {} if keyed is None else keyed.noted.forms
    classes = {**(subtask.classes if subtask.places else {}), **noted}
    broadcast = tuple(subtask.broadcast.values())
    return (write_file(folder, content, subtask.places, about, version, (), broadcast, classes),)


def _check(about: AboutOperator, subtask: Subtask) -> None:
    """Nothing that is written is a stand-in. O(state)."""
    keyed = subtask.keyed
    if keyed is None:
        return
    for _, namespaces in keyed.tables():
        for namespace, table in namespaces.items():
            if (name := unmade_in([namespace, [*map(keyed.key_of, table)], list(table.values())])) is not None:
                raise refused(f"The state of {about}", name)
    for _, queue in keyed.queues():
        if (name := unmade_in([(timer.key, timer.namespace) for timer in queue])) is not None:
            raise refused(f"The state of {about}", name)


def readdressed(savepoint: Place, operator_id: str, folder: str, new_id: str, new: OperatorState) -> OperatorState:
    """Write the files of an operator for another one: other headers, the same sections. Nothing is unpickled.

    Args:
        savepoint: it is in.
        operator_id: in there.
        folder: for state files.
        new_id: OperatorID of the other one.
        new: what is to be said of it; without its files.

    Raises:
        SavepointError: a file is missing or damaged. OSError: one cannot be written.
    """
    storage, chains = storage_of(savepoint.place), [list[StateFile]() for _ in range(new.parallelism)]
    who = abouts(new_id, new)
    for placed in state_files(alone(savepoint, operator_id)):
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


def dealt(parts: Iterable[KeyedState | None], parallelism: int) -> Iterator[KeyedState]:
    """Keyed state for each of some subtasks, by key group.

    Args:
        parts: all of it, however it is divided; with the number of key groups that it is to have.
        parallelism: how many subtasks there are.

    Raises:
        SavepointError: a state is in two forms.

    Cost: O(state) of time, and of memory.
    """
    found = [part for part in parts if part is not None]
    if not found:
        return
    new = [KeyedState(found[0].key_hash, found[0].max_parallelism, found[0].clock) for _ in range(parallelism)]
    for part in found:
        for keyed in new:
            _describe(keyed, part)
        for name, namespaces in part.tables():
            for namespace, table in namespaces.items():
                _deal(part, name, namespace, table, new)
        for index, (_, queue) in enumerate(part.queues()):
            for timer in queue:
                keyed = new[_subtask(part, timer.key, parallelism)]
                own = (keyed.event_timers, keyed.processing_timers)[index]
                own.add(timer.time, keyed.enter(timer.key), timer.key, timer.namespace)
    for keyed in new:
        keyed.resume(None, None)
        yield keyed


def _describe(keyed: KeyedState, part: KeyedState) -> None:
    """What is known of the states of a part."""
    for name, form in part.kinds.items():
        known = keyed.kinds.setdefault(name, form), keyed.versions.setdefault(name, part.versions.get(name, 0))
        if known != (form, part.versions.get(name, 0)):
            raise SavepointError(
                f"The state {name!r} is in two forms: some subtasks have been asked for it since it was changed, and "
                "some have not. Run the program once from this savepoint, and take another one."
            )
        keyed.serializers[name] = part.serializers.get(name, ())


def _deal(part: KeyedState, name: str, namespace: Any, table: Mapping[Any, Any], new: Sequence[KeyedState]) -> None:
    columns: list[tuple[list[Any], list[Any]]] = [([], []) for _ in new]
    for slot, value in table.items():
        key = part.key_of(slot)
        keys, values = columns[_subtask(part, key, len(new))]
        keys.append(key)
        values.append(value)
    for keyed, (keys, values) in zip(new, columns, strict=True):
        if keys:
            keyed.keep_keys(True)
            keyed.fill(name, namespace, keys, values)


def _subtask(part: KeyedState, key: Any, parallelism: int) -> int:
    return part.group(key) * parallelism // part.max_parallelism
