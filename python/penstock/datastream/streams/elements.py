"""Converts the elements of a collection to records of their declared type, and checks them.

A row may be a Row, by name or by position, a tuple or list, a dict, or an object with attributes, also inside other
values (PyFlink's ``RowTypeInfo.to_internal_type`` accepts the same at the top). A map may be a dict, or an object with
attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from penstock.common import checks
from penstock.common.row import Row, names_of
from penstock.common.settings.settings import Settings
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.common.typesystem.conversions import Convert, same
from penstock.errors import TypeInfoError
from penstock.runtime.buffers.borders import SOURCE, crossing
from penstock.runtime.buffers.value_checks import checked_all


def elements_of(collection: Any, type_info: TypeInformation[Any] | None, settings: Settings) -> list[Any]:
    """The records of a collection. O(records)."""
    if isinstance(collection, str | bytes | dict) or not isinstance(collection, Iterable):
        text = checks.shown(collection)
        hint = f" Put it into a list: [{text}]." if isinstance(collection, str | bytes) else " Give a list."
        checks.refuse(f"from_collection() was given {text}, which is not a collection of records.{hint}")
    elements = list(cast("Iterable[Any]", collection))
    if not elements and isinstance(collection, Iterator):
        checks.refuse(
            f"from_collection() was given {checks.shown(collection)}, an exhausted iterator: it was probably "
            "read before. Pass a list, which can be read again (and may be empty)."
        )
    make = _rows(type_info, settings.pyflink)
    if make is not None:
        elements = list(map(make, elements))
    try:
        if settings.pyflink:
            cross = crossing(type_info, settings, SOURCE)
            return elements if cross is None else list(map(cross, elements))
        check = checked_all(type_info, nulls=True)
        if check is not None:
            check(elements)
    except TypeInfoError as error:
        raise TypeInfoError(f"from_collection(): {error}") from None
    return elements


def _rows(type_info: TypeInformation[Any] | None, pyflink: bool) -> Convert | None:
    """A function that converts values of a type with rows or dicts in it; else None."""
    if isinstance(type_info, RowTypeInfo):
        return _row(type_info, pyflink)
    if isinstance(type_info, TupleTypeInfo):
        fields = [_rows(field_type, pyflink) for field_type in type_info.field_types]
        return _convert_only(tuple, lambda value: tuple(_converted(fields, value))) if any(fields) else None
    if isinstance(type_info, ListTypeInfo | ArrayTypeInfo):
        element = _rows(cast("ListTypeInfo[Any] | ArrayTypeInfo[Any]", type_info).element_type, pyflink)
        return None if element is None else _convert_only((list, tuple), lambda value: list(map(element, value)))
    if isinstance(type_info, MapTypeInfo):
        entries = cast("MapTypeInfo[Any, Any]", type_info)
        key, item = _rows(entries.key_type, pyflink) or same, _rows(entries.value_type, pyflink) or same
        return _dict(key, item, pyflink)
    return None


def _dict(key: Convert, item: Convert, pyflink: bool) -> Convert:
    """Converts an object to a dict of its attributes; in PyFlink with its class, which Java's pickler adds."""
    plain = key is same and item is same

    def entries(value: Any) -> Any:
        if not isinstance(value, dict):
            if not hasattr(value, "__dict__") or isinstance(value, Mapping | type):
                return cast("Any", value)
            name = {"__class__": f"{type(value).__module__}.{type(value).__qualname__}"} if pyflink else {}
            return entries({**vars(value), **name})
        mapping = cast("dict[Any, Any]", value)
        return mapping if plain else {key(k): item(v) for k, v in mapping.items()}

    return entries


def _convert_only(kind: type | tuple[type, ...], make: Convert) -> Convert:
    """Convert values of this class only; others are left for the type check to refuse."""
    return lambda value: make(value) if isinstance(value, kind) else value


def _converted(fields: Sequence[Convert | None], values: Iterable[Any]) -> Iterator[Any]:
    for make, value in zip(fields, values, strict=False):
        yield value if make is None else make(value)


def _row(row_type: RowTypeInfo, pyflink: bool) -> Convert:
    """Converts a record to a row with the names of its type: by name if the record has names, else by position."""
    names, fields = row_type.field_names, [_rows(field_type, pyflink) for field_type in row_type.field_types]
    inner = any(fields)

    def row(record: Any) -> Row | None:
        if record is None:
            return None
        values = _values(record, row_type)
        kind = record.get_row_kind() if isinstance(record, Row) else Row().get_row_kind()
        return Row.of_values(list(_converted(fields, values)) if inner else values, names, kind)

    return row


def _values(record: Any, row_type: RowTypeInfo) -> Sequence[Any]:
    names = row_type.field_names
    if isinstance(record, Row):
        record_names = names_of(record)
        if record_names is not None and record_names != names and set(record_names) == set(names):
            return record.get_fields_by_names(names)
        if len(record) == len(names):
            return list(record)
    elif isinstance(record, tuple | list):
        if len(cast("Sequence[Any]", record)) == len(names):
            return cast("Sequence[Any]", record)
    elif isinstance(record, Mapping):
        return [cast("Mapping[Any, Any]", record).get(name) for name in names]
    elif any(hasattr(record, name) for name in names):
        return [getattr(record, name, None) for name in names]
    raise TypeInfoError(
        f"from_collection() was given the record {checks.shown(record)}, but the type {row_type} has {len(names)} "
        "fields. Give each record as a Row or tuple of them, a dict with their names, or an object with such "
        "attributes."
    )
