"""An operator of a savepoint that is to be written, and what is to become of its state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.errors import SavepointError
from penstock.job.folder.manifest import OperatorState
from penstock.job.savepoint.format import Savepoint as Place
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.redistribution import BROADCAST
from penstock.runtime.state.sections import StateInfo
from penstock.savepoints import files
from penstock.savepoints.loading import Subtask, subtasks
from penstock.savepoints.on_spark import Filling, made_on_spark

_Entries = dict[Any, Any]


@dataclass
class Pending:
    """An operator with state, and what is to become of it.

    Attributes:
        state: what the manifest will say, but for changed files.
        origin: the savepoint, and the OperatorID in there; None: it is new.
        unpickle: whether objects of it are made where they have to be.
        readdressed: whether it is called otherwise.
        dropped: names of states.
        keyed: new keyed state.
        broadcast: new broadcast states: form and entries.
        lists: new lists, by kind and name.
        filling: keyed state that executors of Spark are to make.
    """

    state: OperatorState
    origin: tuple[Place, str] | None = None
    unpickle: bool = False
    readdressed: bool = False
    dropped: set[str] = field(default_factory=set[str])
    keyed: KeyedState | None = None
    broadcast: list[tuple[StateInfo, _Entries]] = field(default_factory=list[tuple[StateInfo, _Entries]])
    lists: dict[tuple[str, str], list[Any]] = field(default_factory=dict[tuple[str, str], list[Any]])
    filling: Filling | None = None


def made(folder: str, operator_id: str, operator: Pending, version: int) -> OperatorState:
    """What the manifest says of an operator, with its changed files written.

    Args:
        folder: for state files.
        operator_id: of it, in the new savepoint.
        operator: what is to become of it.
        version: of the job's state.

    Raises:
        SavepointError: something of it cannot be read. OSError: a file cannot be written.
    """
    state, origin = operator.state, operator.origin
    if origin is None and operator.filling is not None:
        return made_on_spark(operator.filling, folder, operator_id, state, _parts(operator)[0], version)
    if origin is None:
        return _files(folder, operator_id, state, _parts(operator), version)
    place, old = origin
    before = place.manifest.operators[old]
    regrouped = state.max_parallelism != before.max_parallelism
    if operator.dropped or regrouped:
        found = list(subtasks(place, old, unpickle=operator.unpickle, groups=state.max_parallelism))
        for name in sorted(operator.dropped):
            _drop(found, name, f"The operator {before.name!r} of {place.place!r}")
        if regrouped and any(each.keyed for each in found):
            parts = files.dealt((each.keyed for each in found), state.parallelism)
            for each, keyed in zip(found, parts, strict=True):
                each.keyed = keyed
        return _files(folder, operator_id, state, found, version)
    if operator.readdressed:
        return files.readdressed(place, old, folder, operator_id, state)
    return state


def _files(
    folder: str, operator_id: str, state: OperatorState, parts: Iterable[Subtask], version: int
) -> OperatorState:
    pairs = zip(files.abouts(operator_id, state), parts, strict=True)
    return replace(state, subtasks=tuple(files.written(folder, about, each, version) for about, each in pairs))


def _parts(operator: Pending) -> list[Subtask]:
    """What the subtasks of a new operator have; broadcast state, which is the same for all, stands in each. Lists are
    dealt out evenly; of one that all get whole, where a part stands makes no difference."""
    state = operator.state
    parts: list[Subtask] = [Subtask() for _ in range(state.parallelism)]
    if operator.keyed is not None:
        for part, keyed in zip(parts, files.dealt([operator.keyed], state.parallelism), strict=True):
            part.keyed = keyed
    for form, entries in operator.broadcast:
        for part in parts:
            part.broadcast[form.name] = form
            part.places[BROADCAST, form.name] = dumps(entries)
    for place, elements in operator.lists.items():
        for subtask, part in enumerate(parts):
            first, end = (len(elements) * each // len(parts) for each in (subtask, subtask + 1))
            part.places[place] = dumps(elements[first:end])
    return parts


def _drop(found: list[Subtask], state: str, who: str) -> None:
    """Take a state out of what subtasks have."""
    there = False
    for each in found:
        for kind, name in [place for place in each.places if place[1] == state]:
            del each.places[kind, name]
            each.broadcast.pop(state, None)
            there = True
        if each.keyed is not None:
            there = each.keyed.forget_state(state) or there
    if not there:
        raise SavepointError(f"{who} has no state {state!r}. 'penstock savepoint show' lists those that it has.")
