"""Aggregations over one field: sum, min, max, minBy, maxBy (Flink 1.11: ``SumAggregator``,
``ComparableAggregator``). ``sum``, ``min`` and ``max`` keep the other fields of the *first* record; ``min_by`` and
``max_by`` keep a whole record, the first one among equals unless told otherwise. They never change a record in
place: the result is a new one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from operator import add, itemgetter
from typing import Any, ClassVar, Literal

from penstock.common.row import Row, names_of
from penstock.errors import TypeInfoError

Position = int | str


@dataclass(frozen=True)
class SumAggregator:
    """Adds up one field, given by index or name; 0 on a record that is itself a number means the record."""

    field_fold: ClassVar[Literal["sum"]] = "sum"  # what it does to its field, as it changes nothing but that
    native_fold: ClassVar[str] = "sum"  # by which name native code knows it

    position: Position

    def reduce(self, first: Any, second: Any) -> Any:
        position = self.position
        if type(first) is tuple and type(position) is int and 0 <= position < len(first):  # the usual case
            fields = list(first)
            fields[position] = first[position] + second[position]
            return tuple(fields)
        return replace_field(first, position, get_field(first, position) + get_field(second, position))

    def fold(self, elements: list[Any]) -> Any:
        """The result of ``reduce`` for all elements from the first to the last, with one new record instead of many."""
        first = elements[0]
        if len(elements) == 1:
            return first
        position = self.position
        plain = (
            type(position) is int and set(map(type, elements)) == {tuple} and 0 <= position < min(map(len, elements))
        )
        field = itemgetter(position) if plain else partial(get_field, position=position)
        return replace_field(first, position, reduce(add, map(field, elements)))  # sum() adds floats in its own way


@dataclass(frozen=True)
class ComparableAggregator:
    """Keeps the smallest or largest value of one field."""

    position: Position
    kind: Literal["min", "max"]
    by: bool = False  # keep the whole record that has it (minBy, maxBy), instead of only the field's value
    first: bool = True  # with `by`, the first record among equals; otherwise the last

    @property
    def field_fold(self) -> Literal["sum", "min", "max"] | None:
        """The function on its field, if it changes nothing else; None where it keeps whole records."""
        return None if self.by else self.kind

    @property
    def native_fold(self) -> str:
        """By which name native code knows it."""
        if not self.by:
            return self.kind
        return f"{self.kind}_by" if self.first else f"{self.kind}_by_last"

    @property
    def changes_first(self) -> bool:
        """Whether Flink writes the result into the first record's object."""
        return not self.by

    def reduce(self, first: Any, second: Any) -> Any:
        old, new = get_field(first, self.position), get_field(second, self.position)
        better = old < new if self.kind == "min" else old > new
        if not self.by:
            return first if better else replace_field(first, self.position, new)
        if old == new:
            return first if self.first else second
        return first if better else second


Aggregator = SumAggregator | ComparableAggregator


def _index(record: Any, position: Position) -> int:
    """Index of a field of a tuple, list or Row; f0, f1, … are the names of a tuple's fields in Flink, and of those of a
    Row that has no names."""
    if isinstance(position, str):
        row = isinstance(record, Row)
        names = names_of(record) if row else getattr(record, "_fields", None)
        if names and position in names:
            return names.index(position)
        if position[:1] == "f" and position[1:].isdigit() and not (row and names is not None):
            position = int(position[1:])
    if isinstance(position, int) and 0 <= position < len(record):
        return position
    if isinstance(record, Row):
        raise TypeInfoError(
            f"{record!r} has no field {position!r}: give a name it has, or a position from 0 to {len(record) - 1}."
        )
    raise TypeInfoError(
        f"The record {record!r} has no field {position!r}. Give a position from 0 to {len(record) - 1}.",
        flink_class="org.apache.flink.api.common.typeutils.CompositeType$InvalidFieldReferenceException",
    )


def get_field(record: Any, position: Position) -> Any:
    """A field of a tuple, list, Row or object, or a scalar record itself (position 0). TypeInfoError if there is no
    such field."""
    if isinstance(record, (tuple, list, Row)):
        if type(position) is int and position >= 0 and position < len(record):
            return record[position]
        return record[_index(record, position)]
    if isinstance(position, str) and hasattr(record, position):
        return getattr(record, position)
    if position == 0:
        return record
    raise TypeInfoError(f"The record {record!r} is a {type(record).__name__} and has no field {position!r}.")


def replace_field(record: Any, position: Position, value: Any) -> Any:
    """A copy of a record with one field replaced."""
    if isinstance(record, tuple):
        index = _index(record, position)
        fields = (*record[:index], value, *record[index + 1 :])
        make: Callable[..., Any] | None = getattr(record, "_make", None)
        return make(fields) if make else fields
    if isinstance(record, (list, Row)):
        changed: Any = list(record)
        if isinstance(record, Row):
            changed = Row.of_values(changed, names_of(record), record.get_row_kind())
        changed[_index(record, position)] = value
        return changed
    if isinstance(position, str) and hasattr(record, position):
        changed = copy.copy(record)
        object.__setattr__(changed, position, value)
        return changed
    return value
