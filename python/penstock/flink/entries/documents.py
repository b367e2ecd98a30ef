"""Entries as lines of JSON. Each type of value has one form, which docs/savepoints.md lists."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

from penstock.common.row import Row
from penstock.flink.entries.entry import Entry
from penstock.flink.entries.values import (
    CountWindow,
    Either,
    GlobalWindow,
    Instant,
    JoinedElement,
    LocalDate,
    LocalDateTime,
    LocalTime,
    Pairs,
    Pojo,
    StreamRecord,
    TimeWindow,
    Ttl,
    Watermark,
)

_LONGEST = 1 << 63
_SUBCLASS = "@class"


def lines(entries: Iterable[Entry]) -> Iterator[str]:
    """A line of JSON for each entry, without its end: an object with the fields of :class:`Entry`, in ASCII."""
    encode = json.JSONEncoder(check_circular=False, allow_nan=False).encode
    about: tuple[Any, ...] = ()
    start = ""
    for operator_id, state, kind, subtask, key_group, key, namespace, value in entries:
        if about != (operator_id, state, kind, subtask):  # the same for many entries
            about = operator_id, state, kind, subtask
            names = {"operator_id": operator_id, "state": state, "kind": kind, "subtask": subtask}
            start = f"{encode(names)[:-1]}, "
        rest = {
            "key_group": key_group,
            "key": document(key),
            "namespace": None if namespace is None else document(namespace),
            "value": document(value),
        }
        yield start + encode(rest)[1:]


def document(value: Any) -> Any:
    """A value as plain data for JSON. Linear."""
    form = _FORMS.get(value.__class__)
    return value if form is None else form(value)


def _number(value: int) -> int | str:
    """Longer ones than Java's longs are texts: few readers of JSON read them, and Python none of 4,300 digits."""
    return value if -_LONGEST <= value < _LONGEST else str(Decimal(value))


def _float(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _list(values: Iterable[Any]) -> list[Any]:
    return [document(value) for value in values]


def _pairs(values: Iterable[tuple[Any, Any]]) -> list[list[Any]]:
    return [[document(key), document(value)] for key, value in values]


def _pojo(value: Pojo) -> dict[str, Any]:
    fields = {name: document(field) for name, field in value.fields.items()}
    return fields if value.java_class is None else {_SUBCLASS: value.java_class, **fields}


def _named(value: Any) -> dict[str, Any]:
    """A tuple with names: an object with them."""
    return {name: document(field) for name, field in zip(value._fields, value, strict=True)}


def _text(value: LocalDate | LocalTime | LocalDateTime | Instant) -> str:
    return value.text


def _dict(value: dict[Any, Any]) -> list[list[Any]]:
    return _pairs(value.items())


_FORMS: dict[type, Callable[[Any], Any]] = {
    int: _number,
    float: _float,
    bytes: bytes.hex,
    Decimal: str,
    list: _list,
    tuple: _list,
    dict: _dict,
    Pairs: _pairs,
    Row: lambda row: {"kind": str(row.get_row_kind()), "fields": _list(row)},
    Pojo: _pojo,
    Either: lambda either: {either.side: document(either.value)},
    TimeWindow: _named,
    CountWindow: _named,
    GlobalWindow: lambda _: "GlobalWindow",
    Ttl: _named,
    StreamRecord: _named,
    Watermark: lambda watermark: {"watermark": watermark.timestamp},
    JoinedElement: _named,
    LocalDate: _text,
    LocalTime: _text,
    LocalDateTime: _text,
    Instant: _text,
}
"""The forms of types; what is not here is as it is: null, booleans and texts."""
