"""Converts values of one declared type to another, where no information is lost, or gives a reason for refusing.
Keys whose declared type has changed must keep their hashes, else their state would not be found."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timezone
from decimal import Decimal
from functools import partial
from typing import Any

from penstock.common import typeinfo as types
from penstock.common.row import Row, names_of
from penstock.common.time import Instant, instant_of_value
from penstock.common.typeinfo import BasicType, SqlTimeType, TypeInformation
from penstock.common.typesystem.conversions import same
from penstock.errors import TypeInfoError
from penstock.runtime.buffers.borders import float32
from penstock.runtime.buffers.value_checks import BITS, checker, kind_of
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.type_texts import type_of

Convert = Callable[[Any], Any]
Type = TypeInformation[Any] | None
_WHOLE = [BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.BIG_INT]
"""Each type holds the values of those before it."""
_LISTS = types.ListTypeInfo, types.ArrayTypeInfo


class Refusal(ValueError):
    """No conversion exists; the text is the reason, a sentence without its period."""


def is_undeclared(type_info: Type) -> bool:
    """Whether values of any type are allowed."""
    return type_info is None or isinstance(type_info, types.PickledBytesTypeInfo)


def conversion(
    old: Type, new: Type, defaults: Mapping[str, Any] | None = None, path: str = "", doubts: list[str] | None = None
) -> Convert | None:
    """The function from old values to new ones; None if nothing changes. ``doubts``: what only values can decide."""
    doubts = [] if doubts is None else doubts
    if is_undeclared(new) or old == new:
        if new is None or is_undeclared(new) or mentions_undeclared(new):
            doubts.append(f"{_at(path)}no type is declared")
        return None
    assert new is not None
    if old is None or is_undeclared(old):
        doubts.append(f"{_at(path)}no type was declared, and each value must be a {new!r}")
        return _checked(new)
    if kind_of(old) is not None and kind_of(new) is not None:
        return _single(old, new, path, doubts)
    if isinstance(old, types.TupleTypeInfo | types.RowTypeInfo) and type(old) is type(new):
        return _record(old, new, defaults or {}, path, doubts)
    if isinstance(old, _LISTS) and isinstance(new, _LISTS) and _is_bytes(old) is _is_bytes(new):
        convert = _elements(conversion(old.element_type, new.element_type, defaults, path, doubts))
        full = isinstance(new, types.PrimitiveArrayTypeInfo) and not isinstance(old, types.PrimitiveArrayTypeInfo)
        return _full(convert) if full else convert
    if isinstance(old, types.MapTypeInfo) and isinstance(new, types.MapTypeInfo):
        keys = conversion(old.key_type, new.key_type, defaults, _below(path, "key"), doubts)
        if keys is not None:
            doubts.append(f"{_at(path)}keys of the map may become equal")
        return entries(keys, conversion(old.value_type, new.value_type, defaults, path, doubts))
    raise Refusal(f"{_at(path)}{old!r} and {new!r} have different kinds of values")


def mentions_undeclared(type_info: TypeInformation[Any]) -> bool:
    """Whether some part of a declared type allows any value."""
    return "PICKLED_BYTE_ARRAY" in repr(type_info)


def _at(path: str) -> str:
    return f"in {path}, " if path else ""


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _checked(new: TypeInformation[Any]) -> Convert | None:
    check = checker(new, nulls=True)
    if check is None:
        return None

    def convert(value: Any) -> Any:
        check(value)
        return value

    return convert


def _is_bytes(new: TypeInformation[Any]) -> bool:
    """Whether values of a type of lists are bytes."""
    return isinstance(new, types.PrimitiveArrayTypeInfo) and kind_of(new.element_type) is BasicType.BYTE


def _full(convert: Convert | None) -> Convert:
    """Lists of Java's primitives, which have no None in them."""

    def full(values: Any) -> Any:
        if values is not None and any(value is None for value in values):
            raise ValueError("an element is None, and the new type has none")
        return values if convert is None else convert(values)

    return full


def _single(old: TypeInformation[Any], new: TypeInformation[Any], path: str, doubts: list[str]) -> Convert | None:
    before, after = kind_of(old), kind_of(new)
    if before in _WHOLE:
        if after in _WHOLE and _WHOLE.index(after) > _WHOLE.index(before):  # type: ignore[arg-type]
            return None
        if after is BasicType.BIG_DEC:
            return lambda value: None if value is None else Decimal(value)
        if after in (BasicType.FLOAT, BasicType.DOUBLE):
            if BITS.get(before, 1 << 10) > (24 if after is BasicType.FLOAT else 53):
                doubts.append(f"{_at(path)}a large number would lose digits as {new!r}")
            return _fraction(after is BasicType.FLOAT)
    if before is BasicType.INSTANT and after in _PARTS_OF_MOMENTS:
        doubts.append(f"{_at(path)}a moment that is not a whole {new!r} in UTC")
        return _PARTS_OF_MOMENTS[after]  # pyright: ignore[reportArgumentType]
    if (before, after) in ((BasicType.FLOAT, BasicType.DOUBLE), (BasicType.CHAR, BasicType.STRING)):
        return None
    narrower = before in _WHOLE and after in _WHOLE
    why = "holds fewer numbers than" if narrower else "does not hold the values of"
    raise Refusal(f"{_at(path)}{new!r} {why} {old!r}")


def _of_moment(what: str, part: Callable[[datetime], Any], whole: Callable[[Any], datetime]) -> Convert:
    """The day, the time or both of a moment in UTC, if it has nothing else."""

    def convert(value: Any) -> Any:
        if value is None:
            return None
        moment = instant_of_value(value)
        try:
            result = part(moment.to_datetime().replace(tzinfo=None))
        except OverflowError:
            result = None
        if result is None or Instant.of_datetime(whole(result).replace(tzinfo=timezone.utc)) != moment:
            raise ValueError(f"{value!r} is not {what} in UTC")
        return result

    return convert


_PARTS_OF_MOMENTS: Mapping[Any, Convert] = {
    SqlTimeType.DATE: _of_moment("a day", datetime.date, lambda day: datetime.combine(day, time())),
    SqlTimeType.TIME: _of_moment("a time of 1970-01-01", datetime.time, partial(datetime.combine, date(1970, 1, 1))),
    SqlTimeType.TIMESTAMP: _of_moment("a moment of whole microseconds", same, same),
}


def _fraction(single: bool) -> Convert:
    def convert(value: Any) -> Any:
        if value is None or type(value) is float:
            return value
        try:
            number = float32(float(value)) if single else float(value)
        except OverflowError:
            number = None
        if number != value:
            raise ValueError(f"{value} does not fit a {'FLOAT' if single else 'DOUBLE'}: it would lose digits")
        return number

    return convert


def _elements(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return lambda values: None if values is None else type(values)(map(convert, values))


def entries(keys: Convert | None, items: Convert | None) -> Convert | None:
    """Convert the keys and values of a dict."""
    if keys is None and items is None:
        return None

    def convert(mapping: Any) -> Any:
        if mapping is None:
            return None
        names = mapping if keys is None else map(keys, mapping)
        values = mapping.values() if items is None else map(items, mapping.values())
        result = dict(zip(names, values, strict=True))
        if len(result) < len(mapping):
            raise ValueError(f"of {len(mapping)} keys of the map only {len(result)} are left, as some are equal now")
        return result

    return convert


_Field = tuple[int, Any, Convert | None]  # a new field: its old position or -1, its default, its conversion


def _record(old: Any, new: Any, defaults: Mapping[str, Any], path: str, doubts: list[str]) -> Convert | None:
    fields: list[_Field] = []
    unnamed = old.field_names == tuple(f"f{index}" for index in range(len(new.field_names)))  # and get names now
    before = {name: index for index, name in enumerate(new.field_names if unnamed else old.field_names)}
    for name, field_type in zip(new.field_names, new.field_types, strict=True):
        where, index = _below(path, name), before.get(name, -1)
        if index >= 0:
            fields.append((index, None, conversion(old.field_types[index], field_type, defaults, where, doubts)))
        elif where in defaults:
            fields.append((-1, defaults[where], None))
        else:
            lost = [field_name for field_name in old.field_names if field_name not in new.field_names]
            renamed = f"; if it is what {lost[0]!r} was, write a migration" if len(lost) == 1 else ""
            raise Refusal(f"the field {where!r} is new and has no default{renamed}")
    same = [index for index, _, _ in fields] == list(range(len(old.field_names)))
    named = unnamed and old.field_names != new.field_names
    if same and not named and all(convert is None for _, _, convert in fields):
        return None
    return _fields(fields, old.field_names, new.field_names)


def _fields(fields: list[_Field], old: tuple[str, ...], new: tuple[str, ...]) -> Convert:
    """Convert tuples, rows, and dicts in the place of rows."""

    def converted(values: Any) -> list[Any]:
        return [
            copy.deepcopy(default) if index < 0 else values[index] if convert is None else convert(values[index])
            for index, default, convert in fields
        ]

    def convert(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, dict):
            return dict(zip(new, converted([value.get(name) for name in old]), strict=True))
        names = names_of(value) if isinstance(value, Row) else None
        values = list(value)
        if names is not None and set(names) == set(old):
            values = [values[names.index(name)] for name in old]
        if len(values) != len(old):
            raise ValueError(f"{value!r} has {len(values)} fields, and its type said {len(old)}")
        if not isinstance(value, Row):
            return tuple(converted(values))
        return Row.of_values(converted(values), None if names is None else new, value.get_row_kind())

    return convert


_IN_ROW = "InRow("  # the prefix of key types where `penstock.pyflink` is on
Check = Callable[[Iterable[Any]], None]


def key_check(before: str, key_hash: KeyHash) -> Check | None:
    """A check for keys that were written under another type; None if the type is the same."""
    new = key_hash.key_type
    now = "" if new is None else repr(new)
    if before == now:
        return None
    if before.startswith(_IN_ROW) is not now.startswith(_IN_ROW):
        raise Refusal(
            "the keys are in PyFlink's key groups, and the program uses Java's: set "
            "penstock.pyflink to true, as for a program of PyFlink's that runs with --pyflink"
            if before.startswith(_IN_ROW)
            else "the keys are in Java's key groups, and the program uses PyFlink's: set penstock.pyflink to false"
        )
    change = f"the keys were declared {before or 'as nothing'} and are {now or 'not declared'} now"
    try:
        old = type_of(before)
    except ValueError as error:
        raise Refusal(f"{change}: {error}") from error
    if not _alike(old, new):
        raise Refusal(change)
    old_hash = KeyHash(old)

    def check(keys: Iterable[Any]) -> None:
        for key in keys:
            try:
                # the fields of a row are hashed in the order of its type
                ordered = new.field_names if isinstance(key, Row) and isinstance(new, types.RowTypeInfo) else None
                fits = ordered is None or names_of(key) in (None, ordered)
                same = fits and key_hash.hash(key) == old_hash.hash(key)
            except TypeInfoError as error:
                raise Refusal(f"{change}, and the key {key!r} does not fit: {error}") from error
            if not same:
                raise Refusal(f"{change}: the key {key!r} would be in another key group")

    return check


def _alike(old: TypeInformation[Any] | None, new: TypeInformation[Any] | None) -> bool:
    if is_undeclared(old) or is_undeclared(new) or (kind_of(old) is not None and kind_of(new) is not None):
        return True
    if isinstance(old, types.TupleTypeInfo | types.RowTypeInfo) and type(old) is type(new):
        same = old.field_names == new.field_names  # type: ignore[union-attr]
        return same and all(map(_alike, old.field_types, new.field_types))  # type: ignore[union-attr]
    if isinstance(old, types.ListTypeInfo) and isinstance(new, types.ListTypeInfo):
        return _alike(old.element_type, new.element_type)
    if isinstance(old, types.MapTypeInfo) and isinstance(new, types.MapTypeInfo):
        return _alike(old.key_type, new.key_type) and _alike(old.value_type, new.value_type)
    return False
