"""A savepoint that is read: its operators, their states and timers, positions of sources."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from penstock.common.typeinfo import TypeInformation, Types
from penstock.errors import SavepointError
from penstock.job.folder.manifest import Pickled, decoded_position
from penstock.job.savepoint.contents import OperatorContent, SourceContent, content_of
from penstock.job.savepoint.format import AboutSavepoint
from penstock.job.savepoint.format import Savepoint as Place
from penstock.job.savepoint.taking import read_savepoint
from penstock.runtime.state.evolution import ELEMENTS, HELD, REDUCTIONS, TIMED
from penstock.runtime.state.redistribution import BROADCAST
from penstock.runtime.state.sections import DOMAINS, StateInfo
from penstock.runtime.state.serializers import TTL
from penstock.runtime.state.type_texts import type_of
from penstock.runtime.windows.time_window import CountWindow, TimeWindow
from penstock.savepoints.loading import Subtask, alone, found_in, key_type, operator_named, subtasks
from penstock.savepoints.on_spark import frame_of
from penstock.savepoints.pickles import refused, unmade_in
from penstock.savepoints.table import StateTable

Type = TypeInformation[Any] | None
_LISTS = ("ListState", ELEMENTS)
_WINDOW = Types.ROW_NAMED(["start", "end"], [Types.LONG(), Types.LONG()])


class Savepoint:
    """A savepoint to look into.

    Args:
        place: its folder, a path or URL; or a job folder for its newest version, or ``JOB@VERSION``.
        unpickle: whether objects of any class are made, which can run any code: only for places that you trust. Else
            there are texts, numbers, dates, rows, tuples, lists, maps, windows, and other objects are refused.

    Raises:
        SavepointError: there is none, or it is damaged.
    """

    def __init__(self, place: str | Path, *, unpickle: bool = False) -> None:
        self._read = read_savepoint(place)
        self._unpickle = unpickle

    def __repr__(self) -> str:
        return f"<Savepoint {self._read.place!r} of job {self._read.about.job!r}>"

    @property
    def place(self) -> str:
        """Where it is."""
        return self._read.place

    @property
    def about(self) -> AboutSavepoint:
        """What it says of itself."""
        return self._read.about

    @property
    def unpickle(self) -> bool:
        """Whether objects of any class are made."""
        return self._unpickle

    def operators(self) -> list[OperatorContent]:
        """The operators with state, and which states they have. Nothing is unpickled. A request per file."""
        return list(content_of(self._read).operators)

    def sources(self) -> list[SourceContent]:
        """The sources. Nothing is unpickled. A request per file."""
        return list(content_of(self._read).sources)

    def read(self, operator: str, state: str) -> StateTable:
        """A state: keyed, a list, a union list or a broadcast state.

        Args:
            operator: its uid or OperatorID.
            state: name of the state, as :meth:`operators` has it.

        Returns:
            Of keyed state ``key``, ``namespace`` (where there are windows), ``value``, and ``last_access`` in
            milliseconds where there is a time to live; of lists ``subtask`` and ``value``; of a broadcast state ``key``
            and ``value``.

        Raises:
            SavepointError: there is none, or it is damaged, or has objects and ``unpickle`` was not given.

        Cost: O(state of the operator).
        """
        found = list(self._subtasks(operator))
        try:
            return self._checked(self._table(found, operator, state), operator, found)
        except (AttributeError, IndexError, TypeError, ValueError, pickle.UnpicklingError) as error:
            raise SavepointError(
                f"The state {state!r} of {operator!r} is not of the form that its header says: {error!r}. "
                f"{self.place!r} is damaged, or no Penstock has written it."
            ) from error

    def _table(self, found: list[Subtask], operator: str, state: str) -> StateTable:
        kinds = {kind for each in found for kind, name in each.places if name == state}
        if not any(each.keyed is not None and _has(each, state) for each in found):
            if kinds == {BROADCAST}:
                return _broadcast(found, state)
            if kinds:
                return _lists(found, state)
            raise self._no_state(operator, state, found)
        return _keyed(found, state)

    def to_spark(self, spark: Any, operator: str, state: str) -> Any:
        """Keyed state as a DataFrame, which executors read when it is computed, a partition for each subtask.

        Args:
            spark: a session.
            operator: its uid or OperatorID.
            state: name of the state. Of windows, of states without declared types, of lists and broadcast state:
                ``read(operator, state).to_spark(spark)``.

        Returns:
            Columns as of :meth:`read`.

        Raises:
            SavepointError: there is none, or it has no types. What is damaged is said when it is computed.

        Cost: a request per file here; a subtask's state is in the memory of a task.
        """
        found, types = operator_named(self._read, operator), self._types(operator, state)
        columns = list(types.items())
        part = partial(_part, alone(self._read, found), found, state, self._unpickle, tuple(types))
        return frame_of(spark, columns, self._read.manifest.operators[found].parallelism, part)

    def _types(self, operator: str, state: str) -> dict[str, TypeInformation[Any]]:
        """The columns of keyed state, by what headers say."""
        found = operator_named(self._read, operator)
        [content] = [each for each in self.operators() if each.operator_id == found]
        said = {each.name: each for each in content.states}.get(state)
        if content.key is None or said is None:
            raise SavepointError(
                f"The operator {operator!r} of {self.place!r} has no keyed state {state!r}. It has "
                f"{sorted(each.name for each in content.states) or 'none'}; lists and broadcast state are read by "
                "read(…)."
            )
        info = StateInfo(said.name, said.kind, said.serializers, said.types)
        keys, value = _declared(key_type(content.key[1], content.key[0])), _value_type(info)
        if keys is None or value is None:
            raise SavepointError(
                f"The savepoint {self.place!r} does not say of which types the keys and values of {state!r} are. Read "
                "the state here, read(…).to_spark(spark), which finds types by what is there."
            )
        found_types = {"key": keys, "value": value}
        if TTL in info.serializers:
            single = said.kind not in ("ListState", "MapState")
            found_types["last_access"] = Types.LONG() if single else Types.LIST(Types.LONG())
        return found_types

    def timers(self, operator: str) -> StateTable:
        """The timers of an operator.

        Args:
            operator: its uid or OperatorID.

        Returns:
            ``domain`` (event or processing), ``time`` in milliseconds, ``key``, ``namespace`` where there are windows.

        Raises:
            SavepointError: as for :meth:`read`.
        """
        rows: list[tuple[Any, ...]] = []
        keys: Type = None
        found = list(self._subtasks(operator))
        for each in found:
            if each.keyed is not None:
                keys = _declared(each.keyed.key_hash.key_type)
                for domain, (_, queue) in zip(DOMAINS, each.keyed.queues(), strict=True):
                    rows += ((domain, timer.time, timer.key, timer.namespace) for timer in queue)
        rows.sort(key=lambda row: row[:2])
        columns = ("domain", "time", "key", "namespace"), (Types.STRING(), Types.LONG(), keys, None)
        return self._checked(_spaced(*columns, rows, 3), operator, found)

    def positions(self, source: str) -> StateTable:
        """How far a source has been read.

        Args:
            source: its uid or OperatorID.

        Returns:
            ``split``, ``subtask``, ``position`` of splits that have been begun and not been read to their end.

        Raises:
            SavepointError: there is no such source; or a position is an object, and ``unpickle`` was not given.
        """
        sources = self._read.manifest.sources
        found = sources[found_in(sources, source, f"The savepoint {self.place!r}")]
        rows: list[tuple[Any, ...]] = []
        for split, at in sorted(found.positions.items()):
            if type(at) is Pickled:
                if not self._unpickle:
                    raise refused(f"The position of the split {split!r}", "pickle")
                at = decoded_position({"pickle": at.data})
            rows.append((split, *at))
        return StateTable(("split", "subtask", "position"), (Types.STRING(), Types.INT(), None), rows)

    def _subtasks(self, operator: str) -> Iterator[Subtask]:
        return subtasks(self._read, operator_named(self._read, operator), unpickle=self._unpickle)

    def _checked(self, table: StateTable, operator: str, found: list[Subtask]) -> StateTable:
        """Nothing in it is a stand-in."""
        if any(each.unmade for each in found):
            for row in table.rows:
                if (name := unmade_in(row)) is not None:
                    raise refused(f"What was asked for of the operator {operator!r}", name)
        return table

    def _no_state(self, operator: str, state: str, found: list[Subtask]) -> SavepointError:
        known = {name for each in found for _, name in each.places}
        known |= {name for each in found if each.keyed is not None for name, _ in each.keyed.tables()}
        return SavepointError(
            f"The operator {operator!r} of {self.place!r} has no state {state!r}. It has {sorted(known) or 'none'}; "
            "timers are read by timers(), --timers."
        )


def _part(
    place: Place, operator_id: str, state: str, unpickle: bool, columns: tuple[str, ...], subtask: int
) -> StateTable:
    """What a subtask has of keyed state; for executors."""
    found = list(subtasks(place, operator_id, unpickle=unpickle, which=subtask))
    there = [each for each in found if each.keyed is not None and _has(each, state)]
    table = _keyed(there, state) if there else StateTable(columns, (None,) * len(columns), ())
    if not len(table):
        return StateTable(columns, (None,) * len(columns), ())
    for row in table.rows if any(each.unmade for each in found) else ():
        if (name := unmade_in(row)) is not None:
            raise refused(f"The state {state!r}", name)
    if table.columns != columns:
        raise SavepointError(
            f"The state {state!r} of {place.place!r} has the columns {table.columns}, and {columns} were expected: it "
            "belongs to windows. Read it here, read(…).to_spark(spark)."
        )
    return table


def place_of(savepoint: Savepoint) -> Place:
    """What a savepoint says in its file."""
    return savepoint._read  # pyright: ignore[reportPrivateUsage]


def _has(subtask: Subtask, state: str) -> bool:
    assert subtask.keyed is not None
    return state in subtask.keyed.kinds or any(name == state for name, _ in subtask.keyed.tables())


def _keyed(found: list[Subtask], state: str) -> StateTable:
    rows: list[tuple[Any, ...]] = []
    keys: Type = None
    value: Type = None
    alive = False
    for each in found:
        keyed = each.keyed
        if keyed is None or not _has(each, state):
            continue
        kind, texts = keyed.kinds.get(state, ("table", ()))
        info = StateInfo(state, kind, keyed.serializers.get(state, ()), texts)
        keys, value, shown = _declared(keyed.key_hash.key_type), _value_type(info), _shown(info)
        alive = alive or TTL in info.serializers
        for name, namespaces in keyed.tables():
            for namespace, table in namespaces.items() if name == state else ():
                rows += ((keyed.key_of(slot), namespace, *shown(stored)) for slot, stored in table.items())
    columns, types = ("key", "namespace", "value"), (keys, None, value)
    if alive:
        columns, types = (*columns, "last_access"), (*types, None)  # type: ignore[assignment]
    return _spaced(columns, types, rows, 1)


def _spaced(columns: tuple[str, ...], types: tuple[Type, ...], rows: list[tuple[Any, ...]], at: int) -> StateTable:
    """A table whose column of namespaces is there if there are any."""
    spaces = {type(row[at]) for row in rows}
    if spaces <= {type(None)}:
        rows = [(*row[:at], *row[at + 1 :]) for row in rows]
        return StateTable((*columns[:at], *columns[at + 1 :]), (*types[:at], *types[at + 1 :]), rows)
    kind = _WINDOW if spaces == {TimeWindow} else None
    if not spaces <= {TimeWindow, CountWindow, type(None), str, int}:
        kind = None
    return StateTable(columns, (*types[:at], kind, *types[at + 1 :]), rows)


def _shown(info: StateInfo) -> Callable[[Any], tuple[Any, ...]]:
    """What a row has of a stored value."""
    if info.kind == TIMED:
        return lambda stored: (list(stored),)
    if info.kind == HELD:
        return lambda stored: ([(each.value, each.timestamp) for each in stored],)
    if TTL not in info.serializers:
        return lambda stored: (stored,)
    if info.kind == "ListState":
        return lambda stored: ([value for value, _ in stored], [at for _, at in stored])
    if info.kind == "MapState":
        return lambda stored: ({key: value for key, (value, _) in stored.items()}, [at for _, at in stored.values()])
    return lambda stored: stored


def _value_type(info: StateInfo) -> Type:
    """The type of what a row has of a state."""
    types = [_type(each) for each in info.types]
    if info.kind == "MapState":
        key, value = types if len(types) == 2 else (None, None)
        return Types.MAP(key or Types.PICKLED_BYTE_ARRAY(), value or Types.PICKLED_BYTE_ARRAY())
    if len(types) != 1 or types[0] is None:
        return None
    if info.kind in _LISTS:
        return Types.LIST(types[0])
    return types[0] if info.kind in ("ValueState", "ReducingState", "AggregatingState", REDUCTIONS) else None


def _type(text: str) -> Type:
    try:
        return type_of(text)
    except ValueError:
        return None


def _declared(key_type: Type) -> Type:
    inner = getattr(key_type, "key_type", None)
    return inner if type(key_type).__name__ == "InRow" else key_type


def _lists(found: list[Subtask], state: str) -> StateTable:
    rows: list[tuple[Any, ...]] = []
    for subtask, each in enumerate(found):
        for (kind, name), data in each.places.items():
            if name == state and kind != BROADCAST:
                rows += ((subtask, value) for value in each.loads(data))
    return StateTable(("subtask", "value"), (Types.INT(), None), rows)


def _broadcast(found: list[Subtask], state: str) -> StateTable:
    """Of the first subtask that has it: all have the same."""
    for each in found:
        data = each.places.get((BROADCAST, state))
        if data is not None:
            types = each.broadcast[state].types if state in each.broadcast else ("", "")
            key, value = map(_type, types if len(types) == 2 else ("", ""))
            return StateTable(("key", "value"), (key, value), list(each.loads(data).items()))
    return StateTable(("key", "value"), (None, None), [])
