"""A savepoint of Apache Flink as tables, with the calls of our own."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from penstock.common.functions.state_descriptor import StateDescriptor
from penstock.common.typeinfo import TypeInformation
from penstock.errors import SavepointError
from penstock.flink.columns.column import NoColumn
from penstock.flink.contents import OperatorContent, content_of
from penstock.flink.cursor import plain
from penstock.flink.entries.readers import Unreadable
from penstock.flink.entries.refusals import title, unreadable_state
from penstock.flink.entries.selection import Selection
from penstock.flink.entries.walk import entries_of
from penstock.flink.headers import KeyedHeader, StateInfo
from penstock.flink.metadata import OperatorState
from penstock.flink.places import newest
from penstock.flink.savepoint import FlinkSavepoint, Problem, problem_of, read_savepoint
from penstock.flink.snapshots import Serializer
from penstock.savepoints.flink_states import BROADCAST, Shape, first_with, shape_of
from penstock.savepoints.on_spark import frame_of
from penstock.savepoints.pyflink_pickles import loads_of_pyflink
from penstock.savepoints.pyflink_states import python_table
from penstock.savepoints.table import ReadRows, StateTable

_ENTRIES = "'penstock savepoint entries' prints its entries."
_Described = tuple[StateInfo, Serializer | None]


class SavepointOfFlink:
    """A savepoint or checkpoint of Flink, for reading. No Java runs.

    Args:
        place: a folder with ``_metadata``, that file, or a job's folder of checkpoints for the newest; a path or URL.
        unpickle: whether :meth:`read_python` makes objects of any class, which can run any code: only for places that
            you trust. Nothing else is ever unpickled.

    Raises SavepointError: there is no savepoint, or it is damaged.
    """

    def __init__(self, place: str | Path, *, unpickle: bool = False) -> None:
        self._read = read_savepoint(newest(str(place)))
        self._unpickle = unpickle
        self._descriptions: dict[str, dict[str, list[_Described]]] = {}  # by operator

    def __repr__(self) -> str:
        return f"<SavepointOfFlink {self.place!r}>"

    @property
    def place(self) -> str:
        """Its path or URL."""
        return self._read.place.folder

    def operators(self) -> list[OperatorContent]:
        """The operators, and their states. A request per file."""
        return list(content_of(self._read).operators)

    def states(self, operator: str) -> list[str]:
        """The states of an operator that :meth:`read` takes. A request per file."""
        described = self._described(self._operator(operator))
        return sorted(name for name, [(info, _), *_] in described.items() if info.type != "PRIORITY_QUEUE")

    def check_whole(self, operator: str) -> None:
        """See that :meth:`states` and :meth:`timers` have all the state of an operator. Raises SavepointError: some is
        raw, in a changelog, or in a file that is missing or has a serializer that is not Flink's; or a list has the
        name of a keyed state."""
        target = self._operator(operator)
        if not self._read.states_are_known(target):
            why = self._unknown(target) or "it is raw, which has no types, or in a changelog"
            self._refuse(target, f"has state that is not among its tables: {why}")
        for name, states in self._all_described(target).items():
            if len({_is_keyed(state) for state in states}) > 1:
                self._refuse(target, f"has two states {plain(repr(name))}: tables have the keyed one, not the other")

    def read(self, operator: str, state: str) -> StateTable:
        """A state: keyed, a list, a union list or a broadcast state. Its rows are read when they are asked for.

        Args:
            operator: its ID, uid or name.
            state: its name, as in :meth:`states`.

        Returns:
            For keyed state ``key``, ``namespace`` (if there are windows), ``value``, ``last_access`` in milliseconds
            if there is a time to live, and ``key_group``; for lists ``subtask`` and ``value``; for a broadcast state
            ``key`` and ``value``. It is ``typed``, by the serializers that the savepoint names.

        Raises SavepointError: the state is missing, or has values that no column takes; damage shows when the rows are
        read. Cost: a request per file; the rows linear in the operator's files, with one row in memory.
        """
        return self._table(operator, state, None)

    def read_python(
        self, operator: str, descriptor: StateDescriptor[Any], key_type: TypeInformation[Any] | None = None
    ) -> StateTable:
        """A state of a Python function of PyFlink, with the values of its program. :meth:`read` gives such a state as
        bytes: its types are in the program only.

        Args:
            operator: its ID, uid or name.
            descriptor: that of the program; one of a map is also of a broadcast state. The contents of windows are in
                ``window-contents``, what ``reduce``, ``sum`` and the like keep in ``_reduce_state``.
            key_type: that of ``key_by``; None, as there, means pickled.

        Returns:
            The columns of :meth:`read`. The value of an aggregating state is its accumulator.

        Raises SavepointError: the state is missing; when the rows are read: it has values of other types, or objects
        and ``unpickle`` was not set. Cost: as of :meth:`read`.
        """
        target = self._operator(operator)
        try:
            loads = loads_of_pyflink(unpickle=self._unpickle)
            return python_table(self._read, target, descriptor, key_type, loads)
        except NoColumn as error:
            self._refuse(target, f"has the state {plain(repr(descriptor.name))}, which no columns take: {error}")

    def timers(self, operator: str) -> StateTable:
        """The timers of an operator, by its ID, uid or name.

        Returns ``domain`` (event or processing), ``time`` in milliseconds, ``key``, ``namespace`` (if there are
        windows) and ``key_group``, in the order of the files. Raises SavepointError: as for :meth:`read`.
        """
        target = self._operator(operator)
        if any(subtask.raw_keyed for subtask in target.subtasks):
            self._refuse(target, "has raw keyed state, and its timers may be in there")
        states = {name: described for name, described in self._described(target).items() if _are_timers(described)}
        if not states:
            return StateTable(("domain", "time", "key", "key_group"), (None,) * 4, ())
        shape = self._shape(target, "timers", list(chain(*states.values())))
        return StateTable(shape.columns, shape.types, _Rows(self._read, target, tuple(states), shape, None), typed=True)

    def positions(self, source: str) -> NoReturn:
        """Not there: Flink keeps how far a source has been read in lists of its state. Raises SavepointError."""
        target = self._operator(source)
        raise SavepointError(
            f"{self.place} is a savepoint of Flink, in which positions of a source are lists of its state. Read one: "
            f"{plain(title(target))} has {_listed(self.states(target.operator_id))}."
        )

    def to_spark(self, spark: Any, operator: str, state: str) -> Any:
        """A state as a DataFrame with the columns of :meth:`read`, which executors read, one partition per subtask.

        Args:
            spark: a session.
            operator: its ID, uid or name.
            state: its name.

        Raises SavepointError: as for :meth:`read`; damage shows when it is computed.
        """
        target = self._operator(operator)
        table = self._table(operator, state, None)
        columns = [(name, kind) for name, kind in zip(table.columns, table.types, strict=True) if kind is not None]
        part = partial(_part, self._read.place.metadata, target.operator_id, state)
        return frame_of(spark, columns, target.parallelism, part)

    def _table(self, operator: str, state: str, subtask: int | None) -> StateTable:
        target = self._operator(operator)
        states = self._described(target)
        described = states.get(state)
        if described is None or _are_timers(described):
            unknown = self._unknown(target)
            raise SavepointError(
                f"{plain(title(target))} of {self.place} has no state {plain(repr(state))}. It has "
                f"{_listed(self.states(target.operator_id))}; timers are read by timers(), --timers, and raw state is "
                "printed by 'penstock savepoint entries'."
                + (f" Not all states are known: {unknown}" if unknown else "")
            )
        shape = self._shape(target, state, described)
        subtasks = None if subtask is None else {subtask}
        if shape.kinds == {BROADCAST}:  # every subtask has all of it
            first = first_with(target, state)
            subtasks = first if subtasks is None else first & subtasks
        return StateTable(shape.columns, shape.types, _Rows(self._read, target, (state,), shape, subtasks), typed=True)

    def _unknown(self, operator: OperatorState) -> str:
        """The first reason why not all states of an operator are known; "" without one."""
        return next(filter(None, map(problem_of, self._read.headers(operator))), "")

    def _operator(self, name: str) -> OperatorState:
        operators = self._read.operators
        by_id = [operator for operator in operators if name in (operator.operator_id, operator.uid)]
        target = by_id or [operator for operator in operators if name == operator.name]
        if len(target) == 1:
            return target[0]
        listed = _listed(operator.uid or operator.operator_id for operator in target or operators)
        what = f"{len(target)} operators" if target else "no operator"
        raise SavepointError(
            f"{self.place} has {what} with the ID, uid or name {plain(repr(name))}. It has: {listed}. 'penstock "
            "savepoint show' lists them."
        )

    def _described(self, operator: OperatorState) -> dict[str, list[_Described]]:
        """The states of an operator, each with its different descriptions; keyed state before other of its name."""
        all_states = self._all_described(operator).items()
        return {name: [state for state in states if _is_keyed(state)] or states for name, states in all_states}

    def _all_described(self, operator: OperatorState) -> dict[str, list[_Described]]:
        if operator.operator_id in self._descriptions:
            return self._descriptions[operator.operator_id]
        states = self._descriptions[operator.operator_id] = {}
        for header in self._read.headers(operator):
            if isinstance(header, Problem):
                continue  # which reading a state refuses
            if isinstance(header, KeyedHeader):
                in_file = [(info, header.key_serializer) for info in header.states]
            else:
                in_file = [(info, None) for info in (*header.operator_states, *header.broadcast_states)]
            for state in in_file:
                known = states.setdefault(state[0].name, [])
                if state not in known:
                    known.append(state)
        return states

    def _shape(self, operator: OperatorState, state: str, described: list[_Described]) -> Shape:
        try:
            shapes = [shape_of(info, key) for info, key in described]
        except Unreadable as error:
            raise unreadable_state(operator, state, str(error)) from error
        except NoColumn as error:
            self._refuse(operator, f"has the state {plain(state)!r}, which no columns take: {error}")
        if len({(shape.columns, tuple(map(repr, shape.types)), shape.kinds) for shape in shapes}) > 1:
            self._refuse(operator, f"has {plain(state)!r} with other types in one file than in another")
        return shapes[0]

    def _refuse(self, operator: OperatorState, why: str) -> NoReturn:
        raise SavepointError(f"{plain(title(operator))} of {self.place} {why}. {_ENTRIES}")


class _Rows(ReadRows):
    """The rows of states of an operator, read from its files each time that they are gone through."""

    def __init__(
        self,
        savepoint: FlinkSavepoint,
        operator: OperatorState,
        states: tuple[str, ...],
        shape: Shape,
        subtasks: Collection[int] | None,
    ) -> None:
        super().__init__()
        self._savepoint, self._operator, self._states = savepoint, operator, states
        self._shape, self._subtasks = shape, subtasks

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        shape = self._shape
        selection = Selection(self._states, None)
        for entry in entries_of(self._savepoint, [self._operator], selection, self._subtasks):
            if not shape.has(entry):
                continue
            try:
                row = shape.row(entry)
            except (AttributeError, IndexError, TypeError, ValueError, OverflowError, struct.error) as error:
                raise SavepointError(
                    f"State {plain(entry.state)!r} of {plain(title(self._operator))} has a value that no column takes: "
                    f"{error}. {_ENTRIES}"
                ) from error
            yield row


def _part(metadata: str, operator_id: str, state: str, subtask: int) -> StateTable:
    return SavepointOfFlink(metadata)._table(operator_id, state, subtask)  # pyright: ignore[reportPrivateUsage]


def _is_keyed(described: _Described) -> bool:
    return described[0].type in ("KEY_VALUE", "PRIORITY_QUEUE")


def _are_timers(described: list[_Described]) -> bool:
    return described[0][0].type == "PRIORITY_QUEUE"


def _listed(names: Any) -> str:
    return ", ".join(plain(repr(name)) for name in names) or "none"
