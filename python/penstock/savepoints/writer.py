"""Savepoints that are made of others: without some state, under other IDs, with other key groups, merged, filled."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock.common.state_descriptor import ListStateDescriptor, MapStateDescriptor
from penstock.common.typeinfo import TypeInformation
from penstock.errors import SavepointError
from penstock.job.folder.files import Files
from penstock.job.folder.manifest import OperatorState, SourceState, StepManifest
from penstock.job.restore.matching import has_read, holders
from penstock.job.savepoint.carrying import carry
from penstock.job.savepoint.format import NAME, SAVEPOINT, VERSION, AboutSavepoint, bare, written
from penstock.job.savepoint.format import Savepoint as Place
from penstock.job.savepoint.published import check_published
from penstock.runtime.io.storage import join, real_place
from penstock.runtime.io.stores import storage_of
from penstock.runtime.state.redistribution import SPLIT, UNION
from penstock.savepoints.bootstrap import (
    Columns,
    Key,
    KeyedStateBootstrapFunction,
    broadcast_entries,
    broadcast_form,
    keyed_state,
    list_elements,
)
from penstock.savepoints.loading import found_in
from penstock.savepoints.on_spark import Filling, is_distributed, usual_parallelism
from penstock.savepoints.pending import Pending, made
from penstock.savepoints.reader import Savepoint, place_of

MAX_GROUPS = 1 << 15


class SavepointWriter:
    """Makes a new savepoint, of one that is there or of nothing. Calls say what it will be, :meth:`write` writes it.

    Where something was changed, watermarks are forgotten by who restores it, as with a changed program.

    Args:
        savepoint: what to begin with, or its place; None for nothing.
        job: name of the job, where there is no savepoint.
    """

    def __init__(self, savepoint: Savepoint | str | Path | None = None, *, job: str = "bootstrapped") -> None:
        self._operators: dict[str, Pending] = {}
        self._ended: list[tuple[Place, SourceState]] = []
        self._places: list[Place] = []
        now = time.time_ns() // 1_000_000
        self._manifest = StepManifest(version=1, job=job, job_id=uuid.uuid4().hex, time=now)
        self._kind = SAVEPOINT
        if savepoint is not None:
            savepoint = savepoint if isinstance(savepoint, Savepoint) else Savepoint(savepoint)
            place = place_of(savepoint)
            self._manifest = replace(bare(place.manifest), plan="", origin="")
            self._kind = SAVEPOINT if place.about.kind == VERSION else place.about.kind
            self._take(savepoint)

    def _take(self, savepoint: Savepoint) -> None:
        place = place_of(savepoint)
        self._places.append(place)
        for each, state in place.manifest.operators.items():
            self._operators[each] = Pending(state, (place, each), savepoint.unpickle)
        self._ended += ((place, source) for source in place.manifest.sources.values())

    def drop(self, operator: str, state: str | None = None) -> SavepointWriter:
        """Leave an operator out, or one of its states.

        Args:
            operator: its uid or OperatorID; of one with state, or of a source, which then begins anew.
            state: name of the state; None for all of the operator, timers and records that wait in its loop too.

        Returns: this.

        Raises:
            SavepointError: there is none.
        """
        if state is not None:
            self._of(operator).dropped.add(state)
            return self
        found = found_in({**self._manifest.sources, **self._states()}, operator, "The new savepoint")
        self._operators.pop(found, None)
        parts = ("operators", "sources", "tasks", "counters")
        without = {part: {k: v for k, v in getattr(self._manifest, part).items() if k != found} for part in parts}
        self._manifest = replace(self._manifest, **without)
        return self

    def rename_uid(self, old: str, new: str) -> SavepointWriter:
        """Give the state of an operator to another one.

        Args:
            old: uid or OperatorID of the one that has it.
            new: uid of the one that takes it.

        Returns: this.

        Raises:
            SavepointError: there is none of the one, or something of the other.

        Cost: when it is written, a copy of the operator's state; nothing is unpickled.
        """
        from penstock.plan import operator_id

        found = found_in({**self._manifest.sources, **self._states()}, old, "The new savepoint")
        target = operator_id(new)
        if target == found:
            return self
        if target in self._operators or target in holders(self._with_states()):
            raise SavepointError(
                f"There is state of the uid {new!r} already (OperatorID {target}). Drop that first, or choose another "
                "uid."
            )
        if found in self._operators:
            operator = self._operators.pop(found)
            operator.state = replace(operator.state, uid=new)
            operator.readdressed = True
            self._operators[target] = operator

        def named(part: Mapping[str, Any]) -> dict[str, Any]:
            rest = {k: v for k, v in part.items() if k not in (found, target)}
            return {**rest, **({target: part[found]} if found in part else {})}

        sources = {k: replace(v, uid=new) if k == target else v for k, v in named(self._manifest.sources).items()}
        tasks, counters = named(self._manifest.tasks), named(self._manifest.counters)
        self._manifest = replace(self._manifest, sources=sources, tasks=tasks, counters=counters)
        return self

    def set_max_parallelism(self, operator: str, groups: int) -> SavepointWriter:
        """Give the keyed state of an operator another number of key groups: the key group of each key is found anew.

        Operators that are chained need the same number.

        Args:
            operator: its uid or OperatorID.
            groups: from the parallelism of the state to 32768.

        Returns: this.

        Raises:
            SavepointError: there is no such operator, or not so many key groups are possible.

        Cost: when it is written, O(state of the operator), in memory.
        """
        found = self._of(operator)
        least = found.state.parallelism
        if not least <= groups <= MAX_GROUPS:
            raise SavepointError(
                f"The max parallelism of {operator!r} cannot be {groups}: its state was written by {least} subtasks, "
                f"so it is one of {least} to {MAX_GROUPS}. For less, run the job at a lower parallelism first."
            )
        found.state = replace(found.state, max_parallelism=groups)
        if found.keyed is not None:
            found.keyed.max_parallelism = groups
        return self

    def merge(self, other: Savepoint) -> SavepointWriter:
        """Take in all of another savepoint. What it is called, and its time, stay those of this one.

        Args:
            other: the savepoint.

        Returns: this.

        Raises:
            SavepointError: an operator has state, or a source was read, in both.
        """
        manifest = place_of(other).manifest
        here = holders(self._with_states())
        for each in holders(manifest):
            if each in here:
                known: Any = manifest.operators.get(each) or manifest.sources.get(each)
                raise SavepointError(
                    f"The operator {known.name if known else each!r} (OperatorID {each}) is in both savepoints. Drop "
                    "it from one of them, or rename its uid there."
                )
        self._take(other)

        def both(part: str) -> dict[str, Any]:
            return {**getattr(manifest, part), **getattr(self._manifest, part)}

        sources = both("sources")
        sources.update((each, source) for each, source in manifest.sources.items() if has_read(source))
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
            uid: of the operator that will ask for it.
            data: a DataFrame of pandas or polars, an Arrow table or batches, which give dictionaries, or any rows: gone
                through at once, in this process. Or one of Spark, which executors go through when it is written.
            key: name of the column with the key, or a function of a row.
            key_type: as in the program's ``key_by``.
            states: by descriptor the column, or a function of a row: a value state is set to it, a list gets its
                elements, a map its entries, others have it added; or an object that keeps each row as it likes.
            name: of the operator, for people; the uid if None.
            parallelism: of the files; restored at any. 1 if None; of a Spark DataFrame as many as run at a time.
            max_parallelism: that of the operator, if the program sets one.

        Returns: this. Raises SavepointError: it has state already, or a value or key is not of the declared type.

        Cost: O(rows), and the state is in memory until it is written; of a Spark DataFrame, a subtask's in a task's.
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
            uid: of the operator that will have it.
            descriptor: of the state.
            entries: of the map, or pairs.
            name: of the operator, for people; the uid if None.
            max_parallelism: of the operator, if the program sets one.

        Returns: this.

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
            uid: of the operator that will have it.
            descriptor: of the state.
            elements: in order.
            union: each subtask gets all of them; else they are dealt out.
            name: of the operator, for people; the uid if None.
            max_parallelism: of the operator, if the program sets one.

        Returns: this.

        Raises:
            SavepointError: the operator's state is from another savepoint, or an element is not of the declared type.
        """
        place = (UNION if union else SPLIT, descriptor.name)
        self._made(uid, name, max_parallelism).lists[place] = list_elements(descriptor, elements)
        return self

    def _made(self, uid: str, name: str | None, groups: int) -> Pending:
        """An operator that is made here, and may have something already."""
        from penstock.plan import operator_id

        known = self._operators.get(operator_id(uid))
        return known if known is not None and known.origin is None else self._new(uid, name, 1, groups)

    def _new(self, uid: str, name: str | None, parallelism: int, groups: int) -> Pending:
        from penstock.plan import operator_id

        if not 1 <= parallelism <= groups <= MAX_GROUPS:
            raise SavepointError(
                f"A parallelism of {parallelism} and a max parallelism of {groups} do not go together: 1 <= "
                f"parallelism <= max parallelism <= {MAX_GROUPS}."
            )
        found = operator_id(uid)
        if found in self._operators:
            raise SavepointError(f"There is state of the uid {uid!r} already (OperatorID {found}). Drop that first.")
        empty = tuple(() for _ in range(parallelism))
        new = self._operators[found] = Pending(OperatorState(name or uid, uid, parallelism, groups, empty))
        return new

    def write(self, place: str | Path) -> Savepoint:
        """Write the savepoint. What it was made of stays as it is; files that have not changed get a second name on one
        local file system, and else are copied.

        Args:
            place: its own folder, a path or URL, where no savepoint is yet.

        Returns:
            The savepoint. It is there as a whole, or this raises.

        Raises:
            SavepointError: there is one; or something that it is made of is damaged or cannot be read without
                unpickling objects; or it cannot be written.
        """
        target = real_place(str(place))
        storage, path = storage_of(target), join(target, NAME)
        if storage.size(path) is not None:
            raise SavepointError(f"There is a savepoint already: {path!r}. Savepoints are never replaced.")
        folder = join(target, "state")
        try:
            for each in self._places:
                _check_whole(each)
            version = self._manifest.version
            manifest = replace(
                self._manifest,
                operators={each: made(folder, each, pending, version) for each, pending in self._operators.items()},
            )
            self._carry(storage, folder, manifest)
            storage.settle([join(folder, name) for name in manifest.files()])
            about = self._about(manifest)
            if not storage.create(path, written(Place(target, about, manifest))):
                raise SavepointError(f"There is a savepoint already: {path!r}. Savepoints are never replaced.")
        except OSError as error:
            raise SavepointError(f"{target!r} cannot be written: {error}.") from error
        return Savepoint(target)

    def _about(self, manifest: StepManifest) -> AboutSavepoint:
        now = time.time_ns() // 1_000_000
        said = manifest.job, manifest.job_id, now, manifest.version, self._kind, manifest.parallelism
        return AboutSavepoint(uuid.uuid4().hex, *said)

    def _carry(self, storage: Any, folder: str, manifest: StepManifest) -> None:
        """Files that have not changed."""
        here = {name for state in manifest.operators.values() for chain in state.subtasks for name in _names(chain)}
        for place in self._places:
            ended = {name.name for origin, source in self._ended if origin is place for name in source.ended.files}
            kept = {file.name for source in manifest.sources.values() for file in source.ended.files}
            names = [name for name in place.manifest.files() if name in here or name in ended & kept]
            carry((storage_of(place.place), place.state), (storage, folder), names, _go_on)

    def _states(self) -> dict[str, OperatorState]:
        return {each: operator.state for each, operator in self._operators.items()}

    def _with_states(self) -> StepManifest:
        return replace(self._manifest, operators=self._states())

    def _of(self, operator: str) -> Pending:
        return self._operators[found_in(self._states(), operator, "The new savepoint")]


def _names(chain: Iterable[Any]) -> list[str]:
    return [file.name for file in chain]


def _go_on() -> None: ...


def _check_whole(place: Place) -> None:
    """What a version of a job folder had to publish is published: nobody else will."""
    if place.about.kind == VERSION:
        job = Files(place.place, storage_of(place.place))
        check_published(job, job.load(place.about.version, unpickle=False))
