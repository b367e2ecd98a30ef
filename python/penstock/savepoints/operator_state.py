"""Reads the state of an operator from a savepoint, subtask by subtask, without the program that wrote it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.errors import SavepointError, StateError
from penstock.job.folder.manifest import OperatorState
from penstock.job.savepoint.contents import Placed, opened, state_files
from penstock.job.savepoint.format import StoredSavepoint, damaged
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.state.files import Header, StateReader
from penstock.runtime.state.keyed import KeyedState, StateInfo
from penstock.runtime.state.replay import Replay
from penstock.runtime.state.type_changes import Refusal
from penstock.runtime.state.type_texts import type_of
from penstock.savepoints.pickles import PlainReading, TrustingReading, unread_error
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
        """Whether some objects were not created."""
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
    chains: list[list[Placed]] = [[] for _ in range(state.parallelism)]
    for placed in state_files(only_operator(savepoint, operator_id)):
        chains[placed.about.subtask].append(placed)
    storage = storage_of(place)
    for chain in chains if which is None else chains[which : which + 1]:
        subtask = Subtask()
        replay: Replay | None = None
        for placed in chain:
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
    """Turn every failure to read a file into an error that names it."""
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
