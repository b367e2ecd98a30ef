"""How native code writes records as text or bytes, and reads messages and lines: plain data, which travels to it as
JSON.

A layout says what stands around and between the fields of a record, and how each is written. Formats make it of their
types; where native code has no form for one, the whole layout is None, and records are written as objects. So they are
where a value is not what the type says."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

from penstock.common.bulk_writer import BulkWriter
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.common.typesystem.kinds import by_kind
from penstock.runtime.buffers.value_checks import BITS

Layout = dict[str, Any]
"""A layout, or a part of one; the Rust module ``penstock_columns::writing`` says what it may hold."""


MOST_DOUBTS = 8
"""Among the records that are read together, until all of the rest are read as objects."""


class NoForm(Exception):
    """Native code has no form for a type."""


def record(
    around: tuple[str, str, str],
    fields: Sequence[Layout],
    *,
    labels: Iterable[str] = (),
    names: Sequence[str] | None = None,
    none: str | None = None,
) -> Layout:
    """Fields with texts before, between and behind them, and a label before each. Rows with other names than these
    are not written, None as ``none``."""
    before, between, behind = around
    labels = list(labels) or [""] * len(fields)
    parts: list[Any] = [before]
    for field, label in zip(fields, labels, strict=True):
        parts[-1] += (between if len(parts) > 1 else "") + label
        parts += [field, ""]
    parts[-1] += behind
    return {"parts": parts, "names": None if names is None else list(names), "none": none}


def whole(bits: int, none: str | None = None) -> Layout:
    """A whole number of so many bits."""
    return {"as": "int", "bits": bits, "none": none}


def scalar(form: str, none: str | None = None, **options: Any) -> Layout:
    """A value by the name of its form."""
    return {"as": form, "none": none, **options}


def items(around: tuple[str, str, str], item: Layout, none: str | None = None) -> Layout:
    """The items of a list with texts before, between and behind them."""
    return {"as": "list", "around": list(around), "item": item, "none": none}


def layout_or_none(make: Callable[[], Layout]) -> Layout | None:
    """The layout that a function makes; None if it finds a type without a form."""
    try:
        return make()
    except NoForm:
        return None


def compiled(functions: ModuleType, layout: Layout | None) -> Any:
    """The native layout; None where there is none, or where this native module does not know all that is in it."""
    try:
        return None if layout is None else functions.Layout(json.dumps(layout))
    except ValueError:
        return None


def compiled_reading(functions: ModuleType, reading: Layout | None) -> Any:
    """The same for what says how messages are read."""
    try:
        return None if reading is None else functions.Reading(json.dumps(reading))
    except ValueError:
        return None


def why_uncompiled(functions: ModuleType, layout: Layout | None, reason: str) -> str:
    """A reason why records do not go through a layout natively; "" where they do."""
    return reason if compiled(functions, layout) is None else ""


_SCALARS = {
    **{kind: whole(bits, "null") for kind, bits in BITS.items()},
    BasicType.BIG_INT: whole(64, "null"),
    BasicType.STRING: scalar("plain", "null"),
    BasicType.CHAR: scalar("plain", "null"),
    BasicType.BOOLEAN: scalar("bool", "null"),
    BasicType.DOUBLE: scalar("java", "null"),
}


def _of_scalar(type_info: BasicTypeInfo[Any]) -> Layout:
    # a value of another class is written as str() shows it, so that a number of any size has its digits
    form = _SCALARS.get(type_info.basic_type)
    if form is None:
        raise NoForm
    return {**form, "bits": 64} if form["as"] == "int" else form


def _of_tuple(type_info: TupleTypeInfo) -> Layout:
    return record(("(", ",", ")"), list(map(_text, type_info.field_types)), none="null")


def _of_row(type_info: RowTypeInfo) -> Layout:
    return record(("+I[", ", ", "]"), list(map(_text, type_info.field_types)), none="null")


def _of_list(type_info: ListTypeInfo[Any] | ArrayTypeInfo[Any]) -> Layout:
    return items(("[", ", ", "]"), _text(type_info.element_type), "null")


def _no_form(*_: Any) -> Layout:
    raise NoForm


_text: Callable[..., Layout] = by_kind(
    scalars=_of_scalar,
    times=lambda _: scalar("sql", "null"),
    tuples=_of_tuple,
    rows=_of_row,
    lists=_of_list,
    arrays=_of_list,
    maps=_no_form,
    objects=lambda _: scalar("shown", "None"),
)


def text_layout(type_info: TypeInformation[Any] | None, end: str = "") -> Layout | None:
    """The layout of the texts that :func:`~penstock.runtime.io.text.file_text` makes, with an end behind each."""
    return layout_or_none(lambda: {**_text(type_info), "end": end})


def print_layout(type_info: TypeInformation[Any] | None) -> Layout | None:
    """The same of :func:`~penstock.runtime.io.text.print_text`."""
    if isinstance(type_info, RowTypeInfo):
        fields = [scalar("shown", "None")] * len(type_info.field_types)
        return record(("+I[", ",", "]"), fields, none="null")
    return text_layout(type_info)


class ColumnsWriter(BulkWriter[Any]):
    """A writer that also takes native batches."""

    @abstractmethod
    def add_columns(self, batch: Any, functions: ModuleType) -> None:
        """Write the records of a batch, at least one, or keep them: the same as ``add_all(batch.objects())``."""


def write_columns(
    batch: Any, step: Callable[[int], tuple[int, bool]], write_objects: Callable[[int, int], None]
) -> None:
    """Write a batch. ``step`` writes natively from a record on, and returns the place behind the last one that is
    written, and whether the one there is doubtful; then ``write_objects`` writes it, and more as they are many."""
    at, few, count = 0, 1, len(batch)
    while at < count:
        at, doubtful = step(at)
        if doubtful:
            end = min(at + few, count)
            write_objects(at, end)
            at, few = end, 2 * few
