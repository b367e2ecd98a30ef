"""Combining before the exchange: one record of a key instead of many, where only the last result of a key counts.

That is so in BATCH mode, for reductions whose result is the same to the bit in whatever groups their records are
reduced: ``sum`` of whole numbers, and ``min``, ``max``, ``min_by``, ``max_by`` of values whose equals cannot be told
apart, by the declared type and by a look at each value. Not floats, nor a program's own function. A combined record has
the position in time of the record whose other fields it has, so ties are decided as without combining."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from types import ModuleType
from typing import Any

from penstock.common.typeinfo import BasicType, BasicTypeInfo, TupleTypeInfo, TypeInformation
from penstock.errors import TypeInfoError
from penstock.runtime.aggregators import Aggregator, ComparableAggregator, SumAggregator, get_field, replace_field
from penstock.runtime.buffers.codec import freezer

Times = list[int] | None
Combine = Callable[[list[Any], Times], None]

_INTEGERS: dict[BasicType, type] = dict.fromkeys(
    (BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.BIG_INT), int
)
_COMPARED: dict[BasicType, type] = {**_INTEGERS, BasicType.STRING: str, BasicType.CHAR: str, BasicType.BOOLEAN: bool}

_OFTEN, _SELDOM = 1 << 16, 1 << 19
"""Records between two looks at how many keys there are."""


def combinable(reducer: Any, record_type: TypeInformation[Any] | None) -> bool:
    """Whether a sender may combine records of this declared type for that reduction."""
    return isinstance(reducer, (SumAggregator, ComparableAggregator)) and _value_type(reducer, record_type) is not None


def _value_type(reducer: Aggregator, record_type: TypeInformation[Any] | None) -> type | None:
    if record_type is None or freezer(record_type) is not None:
        return None  # a mutable record waits in its bytes
    field: TypeInformation[Any] | None = record_type
    if isinstance(record_type, TupleTypeInfo):
        position = reducer.position
        inside = isinstance(position, int) and 0 <= position < len(record_type.field_types)
        field = record_type.field_types[position] if inside else None  # type: ignore[index]
    if not isinstance(field, BasicTypeInfo):
        return None
    return (_INTEGERS if isinstance(reducer, SumAggregator) else _COMPARED).get(field.basic_type)


def combiner(reducer: Aggregator, record_type: TypeInformation[Any] | None) -> Combine:
    """A function that makes one record of those of a key, in place: the list of them, in order of arrival, and that of
    their timestamps, if they have any. The reduction is :func:`combinable` for the type. The records are left as they
    are where a value is not of the declared type. O(n) per call, O(n log n) with timestamps."""
    wanted, position = _value_type(reducer, record_type), reducer.position
    field = itemgetter(position) if isinstance(record_type, TupleTypeInfo) else partial(get_field, position=position)
    choose = _choice(reducer)

    def combine(values: list[Any], times: Times) -> None:
        if times is not None:
            sort_by_time(values, times)
        try:
            column = list(map(field, values))
        except (TypeInfoError, IndexError, TypeError):
            return  # the reduction will say what is wrong with them
        if set(map(type, column)) != {wanted}:
            return
        index, result = choose(column)
        first = values[index]
        values[:] = [first if result is None else replace_field(first, position, result)]
        if times is not None:
            times[:] = [times[index]]

    return combine


class NativeSums:
    """Sums, minima or maxima by key, brought up to date by native code a batch of records at a time."""

    def __init__(self, reducer: Aggregator, functions: ModuleType) -> None:
        self._table: dict[Any, Any] = {}
        self._fold = functions.KeyedFold(self._table, reducer.field_fold, reducer.position, reducer.reduce)
        self._field: Callable[[Any], Any] = itemgetter(reducer.position)
        self._since, self._due = 0, _OFTEN

    def add(self, keys: list[Any], values: list[Any]) -> bool:
        """Take a batch of records without timestamps, each with a key that is its own canonical form; False if it
        has not, as some are not of the declared type."""
        if set(map(type, values)) != {tuple}:
            return False
        try:
            if set(map(type, map(self._field, values))) != {int}:
                return False
        except IndexError:
            return False
        self._fold.add(keys, values, [])
        self._since += len(values)
        return True

    def exceeds(self, keys: int) -> bool:
        """Whether there are more keys than that, as far as anybody knows: a look costs O(keys), so the next one is
        due when there would be as many if new ones came as fast as before the last."""
        if self._since < self._due:
            return False
        before = len(self._table)
        self._fold.flush()
        new = max(len(self._table) - before, 1)
        self._due = max(_OFTEN, min(_SELDOM, (keys - len(self._table)) * self._since // new))
        self._since = 0
        return len(self._table) > keys

    def take(self) -> dict[Any, Any]:
        self._fold.flush()
        results = dict(self._table)
        self._table.clear()
        self._since, self._due = 0, _OFTEN
        return results


def native_sums(
    reducer: Aggregator, record_type: TypeInformation[Any] | None, functions: ModuleType | None
) -> NativeSums | None:
    """The native combiner of batches of records, if there is one, for a :func:`combinable` reduction."""
    fits = isinstance(record_type, TupleTypeInfo) and _value_type(reducer, record_type) is int
    return NativeSums(reducer, functions) if functions is not None and fits and reducer.field_fold is not None else None


def sort_by_time(values: list[Any], times: list[int]) -> None:
    """Sort records by timestamp in place; those of equal timestamps keep their order."""
    ordered = sorted(range(len(times)), key=times.__getitem__)
    values[:] = [values[index] for index in ordered]
    times[:] = [times[index] for index in ordered]


def _choice(reducer: Aggregator) -> Callable[[list[Any]], tuple[int, Any]]:
    """Of a column: whose other fields to keep, and the value to put there if it is another's."""
    if isinstance(reducer, SumAggregator):
        return lambda column: (0, sum(column))
    best = min if reducer.kind == "min" else max
    if not reducer.by:
        return lambda column: (0, best(column))
    if reducer.first:
        return lambda column: (column.index(best(column)), None)
    return lambda column: (len(column) - 1 - column[::-1].index(best(column)), None)
