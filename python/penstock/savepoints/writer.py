"""Writes new savepoints, from existing ones or from tables."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from penstock.common.functions.state_descriptor import ListStateDescriptor, MapStateDescriptor
from penstock.common.typeinfo import TypeInformation
from penstock.errors import SavepointError
from penstock.job.folder.files import Files
from penstock.job.folder.manifest import OperatorState, SourceState, StepManifest
from penstock.job.restore.matches import has_read, holders
from penstock.job.savepoint.format import NAME, SAVEPOINT, VERSION, AboutSavepoint, StoredSavepoint, bare, written
from penstock.job.savepoint.store import check_published
from penstock.job.savepoint.transfer import carry
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.state.evolution import broadcast_form
from penstock.runtime.state.keyed import KeyedState, StateInfo
from penstock.runtime.state.redistribution import BROADCAST, SPLIT, UNION
from penstock.savepoints import files
from penstock.savepoints.bootstrap import (
    Columns,
    Key,
    KeyedStateBootstrapFunction,
    broadcast_entries,
    keyed_state,
    list_elements,
)
from penstock.savepoints.on_spark import Filling, is_distributed, usual_parallelism, write_on_spark
from penstock.savepoints.operator_state import Subtask, find_operator_id, subtasks
from penstock.savepoints.reader import Savepoint, place_of
from penstock.storage.storage import is_local, join, real_place
from penstock.storage.stores import storage_of

_Entries = dict[Any, Any]


@dataclass
class Pending:
    """An operator with state, and the changes to be made to it."""

    state: OperatorState
    origin: tuple[StoredSavepoint, str] | None = None
    unpickle: bool = False
    readdressed: bool = False
    dropped: set[str] = field(default_factory=set[str])
    keyed: KeyedState | None = None
    broadcast: list[tuple[StateInfo, _Entries]] = field(default_factory=list[tuple[StateInfo, _Entries]])
    lists: dict[tuple[str, str], list[Any]] = field(default_factory=dict[tuple[str, str], list[Any]])
    filling: Filling | None = None


def write_operator(folder: str, operator_id: str, operator: Pending, version: int) -> OperatorState:
    """Write the changed files of an operator; returns its entry for the manifest."""
    state, origin = operator.state, operator.origin
    if origin is None and operator.filling is not None:
        return write_on_spark(operator.filling, folder, operator_id, state, _parts(operator)[0], version)
    if origin is None:
        return _files(folder, operator_id, state, _parts(operator), version)
    place, old = origin
    before = place.manifest.operators[old]
    regrouped = state.max_parallelism != before.max_parallelism
    if operator.dropped or regrouped:
        states = list(subtasks(place, old, unpickle=operator.unpickle, groups=state.max_parallelism))
        for name in sorted(operator.dropped):
            _drop(states, name, f"The operator {before.name!r} of {place.place!r}")
        if regrouped and any(part.keyed for part in states):
            parts = files.distribute((part.keyed for part in states), state.parallelism)
            for part, keyed in zip(states, parts, strict=True):
                part.keyed = keyed
        return _files(folder, operator_id, state, states, version)
    if operator.readdressed:
        return files.copy_readdressed(place, old, folder, operator_id, state)
    return state


def _files(
    folder: str, operator_id: str, state: OperatorState, parts: Iterable[Subtask], version: int
) -> OperatorState:
    pairs = zip(files.descriptions_of(operator_id, state), parts, strict=True)
    return replace(state, subtasks=tuple(files.write_state(folder, about, part, version) for about, part in pairs))


def _parts(operator: Pending) -> list[Subtask]:
    """The state of a new operator by subtask. Broadcast state is in each; lists are split evenly, also union lists, of
    which every subtask gets all parts anyway."""
    state = operator.state
    parts: list[Subtask] = [Subtask() for _ in range(state.parallelism)]
    if operator.keyed is not None:
        for part, keyed in zip(parts, files.distribute([operator.keyed], state.parallelism), strict=True):
            part.keyed = keyed
    for form, entries in operator.broadcast:
        for part in parts:
            part.broadcast[form.name] = form
            part.places[BROADCAST, form.name] = dumps(entries)
    for place, elements in operator.lists.items():
        for subtask, part in enumerate(parts):
            first, end = (len(elements) * index // len(parts) for index in (subtask, subtask + 1))
            part.places[place] = dumps(elements[first:end])
    return parts


def _drop(parts: list[Subtask], state: str, who: str) -> None:
    """Remove a state from all subtasks."""
    existed = False
    for part in parts:
        for kind, name in [place for place in part.places if place[1] == state]:
            del part.places[kind, name]
            part.broadcast.pop(state, None)
            existed = True
        if part.keyed is not None:
            existed = part.keyed.forget_state(state) or existed
    if not existed:
        raise SavepointError(f"{who} has no state {state!r}. 'penstock savepoint show' lists its states.")


MAX_GROUPS = 1 << 15


class SavepointWriter:
    """Makes a new savepoint, from an existing one or from nothing. Methods describe its content, :meth:`write` writes
    it.

    If something was changed, a restore forgets watermarks, as with a changed program.

    Args:
        savepoint: the savepoint to start with, or its place; None for nothing.
        job: the name of the job, if there is no savepoint.
    """

    def __init__(self, savepoint: Savepoint | str | Path | None = None, *, job: str = "bootstrapped") -> None:
        self._operators: dict[str, Pending] = {}
        self._ended: list[tuple[StoredSavepoint, SourceState]] = []
        self._places: list[StoredSavepoint] = []
        now = time.time_ns() // 1_000_000
        self._manifest = StepManifest(version=1, job=job, job_id=uuid.uuid4().hex, time=now)
        self._kind = SAVEPOINT
        if savepoint is not None:
            savepoint = _opened(savepoint)
            place = place_of(savepoint)
            self._manifest = replace(bare(place.manifest), plan="", origin="")
            self._kind = SAVEPOINT if place.about.kind == VERSION else place.about.kind
            self._take(savepoint)

    def _take(self, savepoint: Savepoint) -> None:
        place = place_of(savepoint)
        self._places.append(place)
        for operator_id, state in place.manifest.operators.items():
            self._operators[operator_id] = Pending(state, (place, operator_id), savepoint.unpickle)
        self._ended += ((place, source) for source in place.manifest.sources.values())

    def drop(self, operator: str, state: str | None = None) -> SavepointWriter:
        """Remove an operator, or one of its states.

        Args:
            operator: its uid or OperatorID; an operator with state, or a source, which then starts anew.
            state: the name of the state; None for all of the operator, including timers and records waiting in its
                loop.

        Returns: this writer.

        Raises:
            SavepointError: there is no such operator.
        """
        if state is not None:
            self._of(operator).dropped.add(state)
            return self
        operator_id = find_operator_id({**self._manifest.sources, **self._states()}, operator, "The new savepoint")
        self._operators.pop(operator_id, None)
        parts = ("operators", "sources", "tasks", "counters")
        without = {part: {k: v for k, v in getattr(self._manifest, part).items() if k != operator_id} for part in parts}
        self._manifest = replace(self._manifest, **without)
        return self

    def rename_uid(self, old: str, new: str) -> SavepointWriter:
        """Move the state of an operator to another uid.

        Args:
            old: uid or OperatorID of the operator that has the state.
            new: uid of the operator that takes it.

        Returns: this writer.

        Raises:
            SavepointError: ``old`` does not exist, or ``new`` has state already.

        Cost: when it is written, a copy of the operator's state; nothing is unpickled.
        """
        from penstock.plan import operator_id

        source = find_operator_id({**self._manifest.sources, **self._states()}, old, "The new savepoint")
        target = operator_id(new)
        if target == source:
            return self
        if target in self._operators or target in holders(self._with_states()):
            raise SavepointError(
                f"The uid {new!r} already has state (OperatorID {target}). Drop that first, or choose another uid."
            )
        if source in self._operators:
            operator = self._operators.pop(source)
            operator.state = replace(operator.state, uid=new)
            operator.readdressed = True
            self._operators[target] = operator

        def named(part: Mapping[str, Any]) -> dict[str, Any]:
            rest = {k: v for k, v in part.items() if k not in (source, target)}
            return {**rest, **({target: part[source]} if source in part else {})}

        sources = {k: replace(v, uid=new) if k == target else v for k, v in named(self._manifest.sources).items()}
        tasks, counters = named(self._manifest.tasks), named(self._manifest.counters)
        self._manifest = replace(self._manifest, sources=sources, tasks=tasks, counters=counters)
        return self

    def set_max_parallelism(self, operator: str, groups: int) -> SavepointWriter:
        """Change the number of key groups of an operator; the key group of each key is computed anew.

        Operators that are chained need the same number.

        Args:
            operator: its uid or OperatorID.
            groups: from the parallelism of the state to 32768.

        Returns: this writer.

        Raises:
            SavepointError: there is no such operator, or the number is not possible.

        Cost: when it is written, O(state of the operator), in memory.
        """
        pending = self._of(operator)
        least = pending.state.parallelism
        if not least <= groups <= MAX_GROUPS:
            raise SavepointError(
                f"The max parallelism of {operator!r} cannot be {groups}: its state was written by {least} subtasks, "
                f"so it must be {least} to {MAX_GROUPS}. For less, run the job at a lower parallelism first."
            )
        pending.state = replace(pending.state, max_parallelism=groups)
        if pending.keyed is not None:
            pending.keyed.max_parallelism = groups
        return self

    def merge(self, other: Savepoint | str | Path) -> SavepointWriter:
        """Add everything from another savepoint. The name and time stay those of this one.

        Args:
            other: the savepoint, or its place.

        Returns: this writer.

        Raises:
            SavepointError: the place has no savepoint; or an operator has state, or a source was read, in both.
        """
        other = _opened(other)
        manifest = place_of(other).manifest
        here = holders(self._with_states())
        for holder in holders(manifest):
            if holder in here:
                known: Any = manifest.operators.get(holder) or manifest.sources.get(holder)
                raise SavepointError(
                    f"The operator {known.name if known else holder!r} (OperatorID {holder}) is in both savepoints. "
                    "Drop it from one of them, or rename its uid there."
                )
        self._take(other)

        def both(part: str) -> dict[str, Any]:
            return {**getattr(manifest, part), **getattr(self._manifest, part)}

        sources = both("sources")
        sources.update((source_id, source) for source_id, source in manifest.sources.items() if has_read(source))
        tasks = {**both("tasks"), **{k: v for k, v in manifest.tasks.items() if k in holders(manifest)}}
        self._manifest = replace(self._manifest, sources=sources, tasks=tasks, counters=both("counters"))
        return self

    def with_keyed_state(
        self,
        uid: str,
        data: Any,
        key: Key,
        key_type: TypeInformation[Any] | None,
        states: KeyedStateBootstrapFunction | Columns,
        *,
        name: str | None = None,
        parallelism: int | None = None,
        max_parallelism: int = 128,
    ) -> SavepointWriter:
        """Fill the keyed state of an operator with the rows of a table.

        Args:
            uid: uid of the operator that will use it.
            data: a DataFrame of pandas or polars, an Arrow table or batches, which give dictionaries, or any iterable
                of rows: read immediately, in this process. Or a Spark DataFrame, which executors read when the
                savepoint is written.
            key: the name of the key column, or a function of a row.
            key_type: as in the program's ``key_by``.
            states: for each descriptor the column, or a function of a row: a value state is set to it, a list gets its
                elements, a map its entries, other states add it; or an object that stores each row itself.
            name: the operator's name for display; the uid if None.
            parallelism: the number of subtasks of the files, which can be restored at any. 1 if None; for a Spark
                DataFrame as many as run at a time.
            max_parallelism: that of the operator, if the program sets one.

        Returns: this writer. Raises SavepointError: the uid has state already, or a value or key is not of the declared
        type.

        Cost: O(rows), and the state is in memory until it is written; for a Spark DataFrame, a subtask's in a task's.
        """
        usual = usual_parallelism(data) if is_distributed(data) else 1
        new = self._new(uid, name, min(usual, max_parallelism) if parallelism is None else parallelism, max_parallelism)
        if is_distributed(data):
            new.filling = Filling(data, key, key_type, states)
        else:
            new.keyed = keyed_state(data, key, key_type, states, max_parallelism)
        return self

    def with_broadcast_state(
        self,
        uid: str,
        descriptor: MapStateDescriptor[Any, Any],
        entries: Mapping[Any, Any] | Iterable[tuple[Any, Any]],
        *,
        name: str | None = None,
        max_parallelism: int = 128,
    ) -> SavepointWriter:
        """Fill a broadcast state. An operator can have several, and keyed state: call this after the others.

        Args:
            uid: uid of the operator that will have it.
            descriptor: the state's descriptor.
            entries: the entries of the map, or pairs.
            name: the operator's name for display; the uid if None.
            max_parallelism: that of the operator, if the program sets one.

        Returns: this writer.

        Raises:
            SavepointError: the operator's state is from another savepoint, or an entry is not of the declared types.
        """
        new = self._made(uid, name, max_parallelism)
        new.broadcast.append((broadcast_form(descriptor), broadcast_entries(descriptor, entries)))
        return self

    def with_list_state(
        self,
        uid: str,
        descriptor: ListStateDescriptor[Any],
        elements: Iterable[Any],
        *,
        union: bool = False,
        name: str | None = None,
        max_parallelism: int = 128,
    ) -> SavepointWriter:
        """Fill a list that belongs to no key. An operator can have several: call this after the others.

        Args:
            uid: uid of the operator that will have it.
            descriptor: the state's descriptor.
            elements: the elements, in order.
            union: whether each subtask gets all elements; else they are split.
            name: the operator's name for display; the uid if None.
            max_parallelism: that of the operator, if the program sets one.

        Returns: this writer.

        Raises:
            SavepointError: the operator's state is from another savepoint, or an element is not of the declared type.
        """
        place = (UNION if union else SPLIT, descriptor.name)
        self._made(uid, name, max_parallelism).lists[place] = list_elements(descriptor, elements)
        return self

    def _made(self, uid: str, name: str | None, groups: int) -> Pending:
        """An operator that is new in this savepoint, created if missing."""
        from penstock.plan import operator_id

        known = self._operators.get(operator_id(uid))
        return known if known is not None and known.origin is None else self._new(uid, name, 1, groups)

    def _new(self, uid: str, name: str | None, parallelism: int, groups: int) -> Pending:
        from penstock.plan import operator_id

        if not 1 <= parallelism <= groups <= MAX_GROUPS:
            raise SavepointError(
                f"A parallelism of {parallelism} and a max parallelism of {groups} do not fit together: 1 <= "
                f"parallelism <= max parallelism <= {MAX_GROUPS}."
            )
        new_id = operator_id(uid)
        if new_id in self._operators:
            raise SavepointError(f"The uid {uid!r} already has state (OperatorID {new_id}). Drop that first.")
        empty = tuple(() for _ in range(parallelism))
        new = self._operators[new_id] = Pending(OperatorState(name or uid, uid, parallelism, groups, empty))
        return new

    def write(self, place: str | Path) -> Savepoint:
        """Write the savepoint. Its origins do not change; unchanged files are hard-linked on one local file system, and
        copied otherwise.

        Args:
            place: its own folder, a path or URL, which has no savepoint yet.

        Returns:
            The savepoint. It exists as a whole, or this raises.

        Raises:
            SavepointError: the place has a savepoint; or a part of the savepoint is damaged, or cannot be read without
                unpickling objects; or it cannot be written.
        """
        target = real_place(str(place))
        storage, path = storage_of(target), join(target, NAME)
        if storage.size(path) is not None:
            raise SavepointError(f"There is a savepoint already: {path!r}. Savepoints are never replaced.")
        folder = join(target, "state")
        try:
            for source in self._places:
                _check_whole(source)
            version = self._manifest.version
            items = self._operators.items()
            operators = {name: write_operator(folder, name, pending, version) for name, pending in items}
            manifest = replace(self._manifest, operators=operators)
            self._carry(storage, folder, manifest)
            if is_local(target):
                os.makedirs(target, exist_ok=True)  # without state no file has created it
            storage.settle([join(folder, name) for name in manifest.files()])
            about = self._about(manifest)
            if not storage.create(path, written(StoredSavepoint(target, about, manifest))):
                raise SavepointError(f"There is a savepoint already: {path!r}. Savepoints are never replaced.")
        except OSError as error:
            raise SavepointError(f"{target!r} cannot be written: {error}.") from error
        return Savepoint(target)

    def _about(self, manifest: StepManifest) -> AboutSavepoint:
        now = time.time_ns() // 1_000_000
        facts = manifest.job, manifest.job_id, now, manifest.version, self._kind, manifest.parallelism
        return AboutSavepoint(uuid.uuid4().hex, *facts)

    def _carry(self, storage: Any, folder: str, manifest: StepManifest) -> None:
        """Copy or link the files that have not changed."""
        here = {
            name
            for state in manifest.operators.values()
            for chain in state.subtasks
            for name in (file.name for file in chain)
        }
        for place in self._places:
            ended = {name.name for origin, source in self._ended if origin is place for name in source.ended.files}
            kept = {file.name for source in manifest.sources.values() for file in source.ended.files}
            names = [name for name in place.manifest.files() if name in here or name in ended & kept]
            carry((storage_of(place.place), place.state), (storage, folder), names, lambda: None)

    def _states(self) -> dict[str, OperatorState]:
        return {operator_id: operator.state for operator_id, operator in self._operators.items()}

    def _with_states(self) -> StepManifest:
        return replace(self._manifest, operators=self._states())

    def _of(self, operator: str) -> Pending:
        return self._operators[find_operator_id(self._states(), operator, "The new savepoint")]


def _opened(savepoint: Savepoint | str | Path) -> Savepoint:
    return savepoint if isinstance(savepoint, Savepoint) else Savepoint(savepoint)


def _check_whole(place: StoredSavepoint) -> None:
    """Check that all outputs of a checkpoint have been published, since no one else will publish them."""
    if place.about.kind == VERSION:
        job = Files(place.place, storage_of(place.place))
        check_published(job, job.load(place.about.version, unpickle=False))
