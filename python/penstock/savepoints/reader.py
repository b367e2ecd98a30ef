"""A savepoint as tables: its operators, their states and timers, and positions of sources."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from penstock.common.typeinfo import TypeInformation, Types
from penstock.errors import SavepointError
from penstock.job.folder.manifest import Pickled, decoded_position
from penstock.job.savepoint.contents import OperatorContent, SourceContent, content_of
from penstock.job.savepoint.format import AboutSavepoint, StoredSavepoint
from penstock.job.savepoint.store import read_savepoint
from penstock.runtime.state.evolution import ELEMENTS, HELD, REDUCTIONS, TIMED
from penstock.runtime.state.keyed import StateInfo
from penstock.runtime.state.redistribution import BROADCAST
from penstock.runtime.state.sections import DOMAINS
from penstock.runtime.state.serializers import TTL
from penstock.runtime.state.type_texts import type_of
from penstock.runtime.windows.time_window import TimeWindow
from penstock.savepoints.on_spark import frame_of
from penstock.savepoints.operator_state import Subtask, find_operator_id, key_type, only_operator, subtasks
from penstock.savepoints.pickles import refuse_unmade, unread_error
from penstock.savepoints.table import StateTable

Type = TypeInformation[Any] | None
_LISTS = ("ListState", ELEMENTS)
_WINDOW = Types.ROW_NAMED(["start", "end"], [Types.LONG(), Types.LONG()])


class Savepoint:
    """An existing savepoint, for reading.

    Args:
        place: its folder, a path or URL; or a checkpoint directory for its newest checkpoint, or ``DIRECTORY@VERSION``.
        unpickle: whether to create objects of any class, which can run any code: only for places that you trust.
            Without it strings, numbers, dates, rows, tuples, lists, maps and windows are read, other objects refused.

    Raises SavepointError: there is no savepoint, or it is damaged.
    """

    def __init__(self, place: str | Path, *, unpickle: bool = False) -> None:
        self._read = read_savepoint(place)
        self._unpickle = unpickle

    def __repr__(self) -> str:
        return f"<Savepoint {self._read.place!r} of job {self._read.about.job!r}>"

    @property
    def place(self) -> str:
        """Its path or URL."""
        return self._read.place

    @property
    def about(self) -> AboutSavepoint:
        """Its description of itself."""
        return self._read.about

    @property
    def unpickle(self) -> bool:
        """Whether objects of any class are created."""
        return self._unpickle

    def operators(self) -> list[OperatorContent]:
        """The operators with state, and their states. Nothing is unpickled. A request per file."""
        return list(content_of(self._read).operators)

    def sources(self) -> list[SourceContent]:
        """The sources. Nothing is unpickled. A request per file."""
        return list(content_of(self._read).sources)

    def states(self, operator: str) -> list[str]:
        """The states of an operator that :meth:`read` takes, by its uid or OperatorID. O(state of the operator)."""
        return sorted(_names(self._subtasks(operator)))

    def read(self, operator: str, state: str) -> StateTable:
        """Read a state: keyed, a list, a union list or a broadcast state. O(state of the operator).

        Args:
            operator: its uid or OperatorID.
            state: its name, as in :meth:`operators`.

        Returns:
            For keyed state ``key``, ``namespace`` (if there are windows), ``value``, and ``last_access`` in
            milliseconds if there is a time to live; for lists ``subtask`` and ``value``; for a broadcast state ``key``
            and ``value``.

        Raises SavepointError: the state is missing or damaged, or it has objects and ``unpickle`` was not set.
        """
        parts = self._subtasks(operator)
        try:
            return self._checked(self._table(parts, operator, state), operator, parts)
        except (AttributeError, IndexError, TypeError, ValueError, pickle.UnpicklingError) as error:
            raise SavepointError(
                f"The state {state!r} of {operator!r} does not have the form that its header says: {error!r}. "
                f"{self.place!r} is damaged, or was not written by Penstock."
            ) from error

    def _table(self, parts: list[Subtask], operator: str, state: str) -> StateTable:
        if any(_has(part, state) for part in parts):
            return _keyed(parts, state)
        kinds = {kind for part in parts for kind, name in part.places if name == state}
        if kinds:
            return _broadcast(parts, state) if kinds == {BROADCAST} else _lists(parts, state)
        raise SavepointError(
            f"The operator {operator!r} of {self.place!r} has no state {state!r}. It has "
            f"{sorted(_names(parts)) or 'none'}; "
            "timers are read by timers(), --timers."
        )

    def to_spark(self, spark: Any, operator: str, state: str) -> Any:
        """Keyed state as a DataFrame with the columns of :meth:`read`, which executors read, one partition per subtask.

        Args:
            spark: a session.
            operator: its uid or OperatorID.
            state: its name. For windows, undeclared types, lists and broadcast state, use ``read(…).to_spark(spark)``.

        Raises SavepointError: the state does not exist, or has no declared types; damage shows when it is computed.
        """
        operator_id, types = self._id(operator), self._types(operator, state)
        part = partial(_part, only_operator(self._read, operator_id), operator_id, state, self._unpickle, tuple(types))
        return frame_of(spark, list(types.items()), self._read.manifest.operators[operator_id].parallelism, part)

    def _types(self, operator: str, state: str) -> dict[str, TypeInformation[Any]]:
        operator_id = self._id(operator)
        [content] = [item for item in self.operators() if item.operator_id == operator_id]
        declared = {item.name: item for item in content.states}.get(state)
        if content.key is None or declared is None:
            raise SavepointError(
                f"The operator {operator!r} of {self.place!r} has no keyed state {state!r}. It has "
                f"{sorted(item.name for item in content.states) or 'none'}; lists and broadcast state are read by "
                "read(…)."
            )
        info = StateInfo(declared.name, declared.kind, declared.serializers, declared.types)
        keys, value = _declared(key_type(content.key[1], content.key[0])), _value_type(info)
        if keys is None or value is None:
            raise SavepointError(
                f"The savepoint {self.place!r} does not record the types of the keys and values of {state!r}. Read "
                "the state here, read(…).to_spark(spark), which infers the types."
            )
        found_types = {"key": keys, "value": value}
        if TTL in info.serializers:
            single = declared.kind not in ("ListState", "MapState")
            found_types["last_access"] = Types.LONG() if single else Types.LIST(Types.LONG())
        return found_types

    def timers(self, operator: str) -> StateTable:
        """The timers of an operator, by its uid or OperatorID.

        Returns ``domain`` (event or processing), ``time`` in milliseconds, ``key``, and for windows ``namespace``.
        Raises SavepointError: as for :meth:`read`.
        """
        rows: list[tuple[Any, ...]] = []
        keys: Type = None
        parts = self._subtasks(operator)
        for part in parts:
            if part.keyed is not None:
                keys = _declared(part.keyed.key_hash.key_type)
                for domain, (_, queue) in zip(DOMAINS, part.keyed.queues(), strict=True):
                    rows += ((domain, timer.time, timer.key, timer.namespace) for timer in queue)
        rows.sort(key=lambda row: row[:2])
        columns = ("domain", "time", "key", "namespace"), (Types.STRING(), Types.LONG(), keys, None)
        return self._checked(_spaced(*columns, rows, 3), operator, parts)

    def positions(self, source: str) -> StateTable:
        """How far a source has been read, by its uid or OperatorID.

        Returns ``split``, ``subtask`` and ``position`` of splits that were started and not read to their end.
        Raises SavepointError: there is no such source; or a position is an object, and ``unpickle`` was not set.
        """
        sources = self._read.manifest.sources
        state = sources[find_operator_id(sources, source, f"The savepoint {self.place!r}")]
        rows: list[tuple[Any, ...]] = []
        for split, at in sorted(state.positions.items()):
            if type(at) is Pickled:
                if not self._unpickle:
                    raise unread_error(f"The position of the split {split!r}", "pickle")
                at = decoded_position({"pickle": at.data})
            rows.append((split, *at))
        return StateTable(("split", "subtask", "position"), (Types.STRING(), Types.INT(), None), rows)

    def _subtasks(self, operator: str) -> list[Subtask]:
        return list(subtasks(self._read, self._id(operator), unpickle=self._unpickle))

    def _id(self, operator: str) -> str:
        return find_operator_id(self._read.manifest.operators, operator, f"The savepoint {self.place!r}")

    def _checked(self, table: StateTable, operator: str, parts: list[Subtask]) -> StateTable:
        what = f"The requested state of the operator {operator!r}"
        refuse_unmade(table.rows if any(part.unmade for part in parts) else (), what, unpickle=self._unpickle)
        return table


def _part(
    place: StoredSavepoint, operator_id: str, state: str, unpickle: bool, columns: tuple[str, ...], subtask: int
) -> StateTable:
    parts = list(subtasks(place, operator_id, unpickle=unpickle, which=subtask))
    table = _keyed(parts, state) if any(_has(part, state) for part in parts) else None
    if not table:
        return StateTable(columns, (None,) * len(columns), ())
    refuse_unmade(table.rows if any(part.unmade for part in parts) else (), f"The state {state!r}", unpickle=unpickle)
    if table.columns != columns:
        raise SavepointError(
            f"The state {state!r} of {place.place!r} has the columns {table.columns}, and {columns} were expected: it "
            "belongs to windows. Read it here, read(…).to_spark(spark)."
        )
    return table


def place_of(savepoint: Savepoint) -> StoredSavepoint:
    """The stored savepoint behind a :class:`Savepoint`."""
    return savepoint._read  # pyright: ignore[reportPrivateUsage]


def _names(parts: list[Subtask]) -> set[str]:
    names = {name for part in parts for _, name in part.places}
    return names | {name for part in parts if part.keyed is not None for name, _ in part.keyed.tables()}


def _has(subtask: Subtask, state: str) -> bool:
    keyed = subtask.keyed
    return keyed is not None and (state in keyed.infos or any(name == state for name, _ in keyed.tables()))


def _keyed(parts: list[Subtask], state: str) -> StateTable:
    rows: list[tuple[Any, ...]] = []
    keys: Type = None
    value: Type = None
    alive = False
    for part in parts:
        keyed = part.keyed
        if keyed is None or not _has(part, state):
            continue
        info = keyed.infos.get(state) or StateInfo(state, "table", (), ())
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
    spaces = {type(row[at]) for row in rows}
    if spaces <= {type(None)}:
        rows = [(*row[:at], *row[at + 1 :]) for row in rows]
        return StateTable((*columns[:at], *columns[at + 1 :]), (*types[:at], *types[at + 1 :]), rows)
    return StateTable(columns, (*types[:at], _WINDOW if spaces == {TimeWindow} else None, *types[at + 1 :]), rows)


def _shown(info: StateInfo) -> Callable[[Any], tuple[Any, ...]]:
    if info.kind == TIMED:
        return lambda stored: (list(stored),)
    if info.kind == HELD:
        return lambda stored: ([(item.value, item.timestamp) for item in stored],)
    if TTL not in info.serializers:
        return lambda stored: (stored,)
    if info.kind == "ListState":
        return lambda stored: ([value for value, _ in stored], [at for _, at in stored])
    if info.kind == "MapState":
        return lambda stored: ({key: value for key, (value, _) in stored.items()}, [at for _, at in stored.values()])
    return lambda stored: stored


def _value_type(info: StateInfo) -> Type:
    types = [_type(text) for text in info.types]
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


def _lists(parts: list[Subtask], state: str) -> StateTable:
    rows: list[tuple[Any, ...]] = []
    for subtask, part in enumerate(parts):
        for (kind, name), data in part.places.items():
            if name == state and kind != BROADCAST:
                rows += ((subtask, value) for value in part.loads(data))
    return StateTable(("subtask", "value"), (Types.INT(), None), rows)


def _broadcast(parts: list[Subtask], state: str) -> StateTable:
    for part in parts:
        data = part.places.get((BROADCAST, state))
        if data is not None:
            types = part.broadcast[state].types if state in part.broadcast else ("", "")
            key, value = map(_type, types if len(types) == 2 else ("", ""))
            return StateTable(("key", "value"), (key, value), list(part.loads(data).items()))
    return StateTable(("key", "value"), (None, None), [])
