"""The state of an operator, subtask by subtask, out of the files of a savepoint, without the program that wrote it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.errors import SavepointError, StateError
from penstock.job.folder.manifest import OperatorState
from penstock.job.savepoint.contents import Placed, opened, state_files
from penstock.job.savepoint.format import Savepoint as Place
from penstock.job.savepoint.format import damaged
from penstock.runtime.io.stores import storage_of
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.state.class_changes import Reading
from penstock.runtime.state.files import Header, StateReader
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.replay import Replay
from penstock.runtime.state.sections import StateInfo
from penstock.runtime.state.type_changes import Refusal
from penstock.runtime.state.type_texts import type_of
from penstock.savepoints.pickles import PlainReading, refused

IN_ROW = "InRow(key_type="


@dataclass
class Subtask:
    """What a subtask has left.

    Attributes:
        keyed: its keyed state; None if it has written none.
        places: operator state, by (kind, name) the bytes of a list or dict.
        broadcast: what is known of broadcast states, by name.
        classes: what the classes in it were, by name.
        loads: reads the bytes of operator state.
        readings: what has read it.
    """

    keyed: KeyedState | None = None
    places: dict[tuple[str, str], bytes] = field(default_factory=dict[tuple[str, str], bytes])
    broadcast: dict[str, StateInfo] = field(default_factory=dict[str, StateInfo])
    classes: dict[str, Any] = field(default_factory=dict[str, Any])
    loads: Any = None
    readings: list[Any] = field(default_factory=list[Any])

    @property
    def unmade(self) -> bool:
        """Whether some objects were not made."""
        return any(getattr(reading, "unmade", None) for reading in self.readings)


def operator_named(savepoint: Place, given: str) -> str:
    """The OperatorID of an operator with state.

    Args:
        savepoint: it is in.
        given: its uid or OperatorID.

    Raises:
        SavepointError: there is none.
    """
    return found_in(savepoint.manifest.operators, given, f"The savepoint {savepoint.place!r}")


def found_in(operators: Any, given: str, where: str) -> str:
    """The OperatorID of something that has a uid.

    Args:
        operators: by OperatorID.
        given: the uid or the OperatorID.
        where: they are, as the subject of a sentence.

    Raises:
        SavepointError: there is none.
    """
    from penstock.plan import operator_id

    named = [each for each, known in operators.items() if known.uid == given]
    named += [each for each in (given, operator_id(given)) if each in operators]
    if not named:
        known = ", ".join(
            repr(each) if state.uid is None else repr(state.uid) for each, state in sorted(operators.items())
        )
        raise SavepointError(
            f"{where} has nothing of an operator with the uid or OperatorID {given!r}. It has: {known or 'none'}. "
            "'penstock savepoint show' lists them."
        )
    return named[0]


def subtasks(
    savepoint: Place, operator_id: str, *, unpickle: bool, groups: int | None = None, which: int | None = None
) -> Iterator[Subtask]:
    """What the subtasks of an operator have left, one after the other.

    Args:
        savepoint: it is in.
        operator_id: of the operator.
        unpickle: whether objects of all classes are made; else :class:`~penstock.savepoints.pickles.Unmade` ones.
        groups: how many key groups the keyed state is to have; those that it has if None.
        which: only this subtask; all if None.

    Raises:
        SavepointError: a file is missing or damaged, or what is in it cannot be read.

    Cost: O(state of a subtask) of memory.
    """
    state = savepoint.manifest.operators[operator_id]
    size, place = groups or state.max_parallelism, savepoint.place
    chains: list[list[Placed]] = [[] for _ in range(state.parallelism)]
    for placed in state_files(alone(savepoint, operator_id)):
        chains[placed.about.subtask].append(placed)
    storage = storage_of(place)
    for chain in chains if which is None else chains[which : which + 1]:
        found = Subtask()
        replay: Replay | None = None
        for placed in chain:
            with opened(storage, savepoint, placed) as reader, _said(reader.header, found, place):
                replay = _apply(reader, found, replay, state, size, unpickle)
        if replay is not None:
            replay.finish()
        yield found


def alone(savepoint: Place, operator_id: str) -> Place:
    """A savepoint that has only one operator."""
    manifest = savepoint.manifest
    return replace(savepoint, manifest=replace(manifest, operators={operator_id: manifest.operators[operator_id]}))


def _apply(
    reader: StateReader, found: Subtask, replay: Replay | None, state: OperatorState, groups: int, unpickle: bool
) -> Replay | None:
    """The next file of a chain."""
    header = reader.header
    reading: Any = Reading(header.classes) if unpickle else PlainReading()
    found.readings.append(reading)
    if header.key is not None:
        if replay is None:
            found.keyed = KeyedState(KeyHash(key_type(header.key[0], header.key[1])), groups)
            replay = Replay(found.keyed, range(state.max_parallelism))
        _note(found.keyed, header)
        replay.apply(header.states, header.timers, reader.sections(range(state.max_parallelism)), reading, None)
    data = reader.operator_state()
    if data is not None:
        found.places.update(reading.loads(data))
    found.broadcast.update((info.name, info) for info in header.broadcast)
    found.classes.update(header.classes)
    found.loads = reading.loads
    return replay


@contextlib.contextmanager
def _said(header: Header, found: Subtask, place: str) -> Iterator[None]:
    """Whatever comes of reading a file is an error that says which."""
    try:
        yield
    except StateError as error:
        raise damaged(place, str(error)) from error
    except SavepointError:
        raise
    except Refusal as reason:
        raise SavepointError(f"The state of {header.about} cannot be read: {reason}.") from reason
    except Exception as error:
        unmade = getattr(found.readings[-1], "unmade", None) if found.readings else None
        if unmade:
            raise refused(f"The state of {header.about}", ".".join(next(iter(unmade)))) from error
        raise SavepointError(
            f"The state of {header.about} cannot be read: {type(error).__name__}: {error}. Are the classes of its "
            "values importable here, under the names that they had?"
        ) from error


def _note(keyed: KeyedState | None, header: Header) -> None:
    """What a header says of states, also of those that have no values."""
    assert keyed is not None
    for info in header.states:
        if info.serializers or info.types:
            keyed.serializers.setdefault(info.name, info.serializers)
            keyed.kinds.setdefault(info.name, (info.kind, info.types))


def key_type(serializer: str, text: str) -> TypeInformation[Any] | None:
    """The type of keys, of the text in a header.

    Args:
        serializer: Flink's class, for errors.
        text: the type, as declared.

    Raises:
        SavepointError: this version does not know it.
    """
    try:
        if text.startswith(IN_ROW):
            inner = text.removeprefix(IN_ROW).removesuffix(")")
            return InRow(None if inner == "None" else type_of(inner))
        return type_of(text)
    except ValueError as error:
        raise SavepointError(f"The keys are of a type that cannot be read ({serializer}): {error}.") from error
