"""Writes new savepoints, from existing ones or from tables."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
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
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.redistribution import BROADCAST, SPLIT, UNION
from penstock.savepoints import operator_state as states
from penstock.savepoints.bootstrap import (
    Columns,
    Key,
    KeyedStateBootstrapFunction,
    broadcast_entries,
    keyed_state,
    list_elements,
)
from penstock.savepoints.on_spark import Filling, is_distributed, write_on_spark
from penstock.savepoints.operator_state import Subtask, find_operator_id, operator_id
from penstock.savepoints.reader import Savepoint, place_of
from penstock.storage.storage import is_local, join, real_place
from penstock.storage.stores import storage_of

MAX_GROUPS = 1 << 15

Change = Callable[[list[Subtask], OperatorState], object]  # changes the state of an operator's subtasks in place


@dataclass
class Pending:
    """An operator of the new savepoint: the operator it is copied from, if any, and what is changed or filled in."""

    state: OperatorState
    origin: tuple[StoredSavepoint, str] | None = None
    unpickle: bool = False
    readdressed: bool = False
    changes: list[Change] = field(default_factory=list[Change])
    filling: Filling | None = None

    def write(self, folder: str, operator_id: str, version: int) -> OperatorState:
        state = self.state
        if self.origin is None:
            parts, regrouped = [Subtask() for _ in range(state.parallelism)], False
        else:
            place, old = self.origin
            regrouped = state.max_parallelism != place.manifest.operators[old].max_parallelism
            if not self.changes and not regrouped:
                return states.copy_readdressed(place, old, folder, operator_id, state) if self.readdressed else state
            parts = list(states.subtasks(place, old, unpickle=self.unpickle, groups=state.max_parallelism))
        for change in self.changes:
            change(parts, state)
        if regrouped and any(part.keyed for part in parts):
            _fill_keyed([part.keyed for part in parts], parts)
        if self.filling is not None:
            return write_on_spark(self.filling, folder, operator_id, state, parts, version)
        pairs = zip(states.descriptions_of(operator_id, state), parts, strict=True)
        return replace(state, subtasks=tuple(states.write_state(folder, about, part, version) for about, part in pairs))


def _fill_keyed(keyed: Iterable[KeyedState | None], parts: list[Subtask]) -> None:
    for part, share in zip(parts, states.distribute(keyed, len(parts)), strict=True):
        part.keyed = share


def _drop(parts: list[Subtask], state: str, who: str) -> None:
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


class SavepointWriter:
    """Makes a new savepoint, from an existing one or from nothing: methods describe it, :meth:`write` writes it.

    If something was changed, a restore forgets watermarks, as with a changed program.

    Args:
        savepoint: the savepoint to start with, or its place; None for nothing.
        job: the name of the job, if there is no savepoint.
    """

    def __init__(self, savepoint: Savepoint | str | Path | None = None, *, job: str = "bootstrapped") -> None:
        self._operators: dict[str, Pending] = {}
        self._ended: list[tuple[StoredSavepoint, SourceState]] = []
        self._places: list[StoredSavepoint] = []
        self._manifest = StepManifest(version=1, job=job, job_id=uuid.uuid4().hex, time=_now())
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
        for known_id, state in place.manifest.operators.items():
            self._operators[known_id] = Pending(state, (place, known_id), savepoint.unpickle)
        self._ended += ((place, source) for source in place.manifest.sources.values())

    def drop(self, operator: str, state: str | None = None) -> SavepointWriter:
        """Remove an operator, or one of its states.

        Args:
            operator: uid or OperatorID of an operator with state, or of a source, which then reads all again.
            state: its name; None for the whole operator, with timers and records waiting in its loop.

        Raises SavepointError: there is no such operator.
        """
        if state is not None:
            pending = self._of(operator)
            where = f" of {pending.origin[0].place!r}" if pending.origin else ""
            who = f"The operator {pending.state.name!r}{where}"
            pending.changes.append(lambda parts, _: _drop(parts, state, who))
            return self
        operator_id = find_operator_id({**self._manifest.sources, **self._states()}, operator, "The new savepoint")
        self._operators.pop(operator_id, None)
        self._change(lambda _, part: {k: v for k, v in part.items() if k != operator_id})
        return self

    def _change(self, change: Callable[[str, Mapping[str, Any]], dict[str, Any]]) -> None:
        """Change the parts of the manifest that are addressed by OperatorID, except the operators."""
        parts = ("sources", "tasks", "counters")
        self._manifest = replace(
            self._manifest, **{part: change(part, getattr(self._manifest, part)) for part in parts}
        )

    def rename_uid(self, old: str, new: str) -> SavepointWriter:
        """Move the state of an operator to another uid; nothing is unpickled.

        Args:
            old: uid or OperatorID of the operator that has the state.
            new: uid of the operator that takes it.

        Raises SavepointError: ``old`` does not exist, or ``new`` has state already.
        """
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

        def renamed(part: str, content: Mapping[str, Any]) -> dict[str, Any]:
            rest = {k: v for k, v in content.items() if k not in (source, target)}
            if source in content:
                rest[target] = replace(content[source], uid=new) if part == "sources" else content[source]
            return rest

        self._change(renamed)
        return self

    def set_max_parallelism(self, operator: str, groups: int) -> SavepointWriter:
        """Change the number of key groups of an operator; operators that are chained need the same number.

        Args:
            operator: its uid or OperatorID.
            groups: from the parallelism of the state to 32768.

        Raises SavepointError: there is no such operator, or the number is not possible. O(its state) when written.
        """
        pending = self._of(operator)
        least = pending.state.parallelism
        if not least <= groups <= MAX_GROUPS:
            raise SavepointError(
                f"The max parallelism of {operator!r} cannot be {groups}: its state was written by {least} subtasks, "
                f"so it must be {least} to {MAX_GROUPS}. For less, run the job at a lower parallelism first."
            )
        pending.state = replace(pending.state, max_parallelism=groups)
        return self

    def merge(self, other: Savepoint | str | Path) -> SavepointWriter:
        """Add everything from another savepoint, or its place. The name and time stay those of this one.

        Raises SavepointError: the place has no savepoint; or an operator has state, or a source was read, in both.
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

        def both(part: str, mine: Mapping[str, Any]) -> dict[str, Any]:
            theirs = getattr(manifest, part)
            read = {k: v for k, v in theirs.items() if part == "sources" and has_read(v)}
            held = {k: v for k, v in theirs.items() if part == "tasks" and k in holders(manifest)}
            return {**theirs, **mine, **read, **held}

        self._change(both)
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
                of rows: read now. Or a Spark DataFrame, which executors read when the savepoint is written.
            key: the name of the key column, or a function of a row.
            key_type: as in the program's ``key_by``.
            states: for each descriptor the column, or a function of a row: a value state is set to it, a list gets its
                elements, a map its entries, other states add it; or an object that stores each row itself.
            name: the operator's name for display; the uid if None.
            parallelism: the subtasks of the files, which can be restored at any; None: 1, or as many as Spark runs.
            max_parallelism: that of the operator, if the program sets one.

        Raises SavepointError: the uid has state already, or a value or key is not of the declared type. Cost: O(rows),
        in memory until it is written; for a Spark DataFrame, a subtask's in a task's.
        """
        usual = 1 if not is_distributed(data) else max(1, int(data.sparkSession.sparkContext.defaultParallelism))
        new = self._new(uid, name, min(usual, max_parallelism) if parallelism is None else parallelism, max_parallelism)
        if is_distributed(data):
            new.filling = Filling(data, key, key_type, states)
            return self
        keyed = keyed_state(data, key, key_type, states, max_parallelism)

        def fill(parts: list[Subtask], state: OperatorState) -> None:
            keyed.max_parallelism = state.max_parallelism
            _fill_keyed([keyed], parts)

        new.changes.append(fill)
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

        ``entries`` is a map or pairs; ``uid``, ``name`` and ``max_parallelism`` as in :meth:`with_keyed_state`.
        Raises SavepointError: the operator's state is from another savepoint, or an entry is not of the declared types.
        """
        form, data = broadcast_form(descriptor), dumps(broadcast_entries(descriptor, entries))

        def fill(parts: list[Subtask], _: OperatorState) -> None:
            for part in parts:
                part.broadcast[form.name] = form
                part.places[BROADCAST, form.name] = data

        self._new(uid, name, 1, max_parallelism, joins=True).changes.append(fill)
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

        Each subtask gets all ``elements`` if ``union``, else they are split; the rest as in :meth:`with_keyed_state`.
        Raises SavepointError: the operator's state is from another savepoint, or an element is of another type.
        """
        place, checked = (UNION if union else SPLIT, descriptor.name), list_elements(descriptor, elements)

        def fill(parts: list[Subtask], _: OperatorState) -> None:  # also for a union, of which all get all parts
            for subtask, part in enumerate(parts):
                first, end = (len(checked) * index // len(parts) for index in (subtask, subtask + 1))
                part.places[place] = dumps(checked[first:end])

        self._new(uid, name, 1, max_parallelism, joins=True).changes.append(fill)
        return self

    def _new(self, uid: str, name: str | None, parallelism: int, groups: int, *, joins: bool = False) -> Pending:
        """A new operator; ``joins`` allows one that is new in this savepoint already."""
        new_id = operator_id(uid)
        known = self._operators.get(new_id)
        if joins and known is not None and known.origin is None:
            return known
        if not 1 <= parallelism <= groups <= MAX_GROUPS:
            raise SavepointError(
                f"A parallelism of {parallelism} and a max parallelism of {groups} do not fit together: 1 <= "
                f"parallelism <= max parallelism <= {MAX_GROUPS}."
            )
        if known is not None:
            raise SavepointError(f"The uid {uid!r} already has state (OperatorID {new_id}). Drop that first.")
        empty = tuple(() for _ in range(parallelism))
        new = self._operators[new_id] = Pending(OperatorState(name or uid, uid, parallelism, groups, empty))
        return new

    def write(self, place: str | Path) -> Savepoint:
        """Write the savepoint to its own folder, a path or URL, and return it. It exists as a whole, or this raises.

        Its origins do not change; unchanged files are hard-linked on one local file system, and copied otherwise.
        Raises SavepointError: the place has a savepoint; or a part is damaged, needs unpickling, or cannot be written.
        """
        target = real_place(str(place))
        storage, path = storage_of(target), join(target, NAME)
        if storage.size(path) is not None:
            raise SavepointError(f"There is a savepoint already: {path!r}. Savepoints are never replaced.")
        folder = join(target, "state")
        try:
            for source in self._places:
                if source.about.kind == VERSION:  # a checkpoint, whose outputs no one else will publish
                    job = Files(source.place, storage_of(source.place))
                    check_published(job, job.load(source.about.version, unpickle=False))
            version, items = self._manifest.version, self._operators.items()
            operators = {operator: pending.write(folder, operator, version) for operator, pending in items}
            manifest = replace(self._manifest, operators=operators)
            self._carry(storage, folder, manifest)
            if is_local(target):
                os.makedirs(target, exist_ok=True)  # without state no file has created it
            storage.settle([join(folder, name) for name in manifest.files()])
            facts = manifest.job, manifest.job_id, _now(), version, self._kind, manifest.parallelism
            about = AboutSavepoint(uuid.uuid4().hex, *facts)
            if not storage.create(path, written(StoredSavepoint(target, about, manifest))):
                raise SavepointError(f"There is a savepoint already: {path!r}. Savepoints are never replaced.")
        except OSError as error:
            raise SavepointError(f"{target!r} cannot be written: {error}.") from error
        return Savepoint(target)

    def _carry(self, storage: Any, folder: str, manifest: StepManifest) -> None:
        here = {file.name for state in manifest.operators.values() for series in state.subtasks for file in series}
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


def _now() -> int:
    return time.time_ns() // 1_000_000
