"""From values of one declared type to values of another, where that loses nothing.

What Python holds is often the same: an int is an INT and a LONG. Then there is nothing to do, and nothing is done.
Otherwise there is a function for each value, or a reason why there is none.

Cost: compiling is linear in the sizes of the types, and converting in those of the values.
"""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from penstock.common.row import Row, names_of
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    ListTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.runtime.buffers.value_checks import checker, kind_of

Convert = Callable[[Any], Any]
Type = TypeInformation[Any] | None

_WHOLE = [BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.BIG_INT]
"""Each holds what those before it do."""
_MISSING = object()


class Refusal(ValueError):
    """There is no way from the old type to the new one; the text is the reason, as a sentence without its end."""


def is_undeclared(type_info: Type) -> bool:
    """Whether values may be anything."""
    return type_info is None or isinstance(type_info, PickledBytesTypeInfo)


def conversion(old: Type, new: Type, defaults: Mapping[str, Any] | None = None, path: str = "") -> Convert | None:
    """What makes a value of the new type of one of the old; None: it is one.

    Args:
        old, new: the types; None for undeclared.
        defaults: of fields that the new type has gained, by path, such as ``address.zip``.
        path: of the values, "" for the state's.

    Raises:
        Refusal: there is no such way.
    """
    if is_undeclared(new) or old == new:
        return None
    assert new is not None
    if old is None or is_undeclared(old):
        return _checked(new)
    if kind_of(old) is not None and kind_of(new) is not None:
        return _single(old, new, path)
    if isinstance(old, TupleTypeInfo) and isinstance(new, TupleTypeInfo):
        return _record(old, new, defaults or {}, path, _tuple)
    if isinstance(old, RowTypeInfo) and isinstance(new, RowTypeInfo):
        return _record(old, new, defaults or {}, path, _row)
    if isinstance(old, ListTypeInfo) and isinstance(new, ListTypeInfo):
        return _elements(conversion(old.element_type, new.element_type, defaults, path))
    if isinstance(old, ArrayTypeInfo) and type(old) is type(new):
        return _elements(conversion(old.element_type, new.element_type, defaults, path))  # type: ignore[union-attr]
    if isinstance(old, MapTypeInfo) and isinstance(new, MapTypeInfo):
        keys = conversion(old.key_type, new.key_type, defaults, _below(path, "key"))
        return entries(keys, conversion(old.value_type, new.value_type, defaults, path))
    raise Refusal(f"{_at(path)}{old!r} and {new!r} have different kinds of values")


def _at(path: str) -> str:
    return f"in {path}, " if path else ""


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _checked(new: TypeInformation[Any]) -> Convert | None:
    """For values whose type nobody had declared: they are looked at."""
    check = checker(new, nulls=True)
    if check is None:
        return None

    def convert(value: Any) -> Any:
        check(value)
        return value

    return convert


def _single(old: TypeInformation[Any], new: TypeInformation[Any], path: str) -> Convert | None:
    before, after = kind_of(old), kind_of(new)
    if before in _WHOLE:
        if after in _WHOLE and _WHOLE.index(after) > _WHOLE.index(before):  # type: ignore[arg-type]
            return None
        if after is BasicType.BIG_DEC:
            return lambda value: None if value is None else Decimal(value)
        if after in (BasicType.FLOAT, BasicType.DOUBLE):
            return _fraction(after is BasicType.FLOAT)
    if (before, after) in ((BasicType.FLOAT, BasicType.DOUBLE), (BasicType.CHAR, BasicType.STRING)):
        return None
    narrower = before in _WHOLE and after in _WHOLE
    why = "holds fewer numbers than" if narrower else "does not hold the values of"
    raise Refusal(f"{_at(path)}{new!r} {why} {old!r}")


def _fraction(single: bool) -> Convert:
    """Whole numbers as floats, if they are the same numbers then."""

    def convert(value: Any) -> Any:
        if value is None or type(value) is float:
            return value
        found = float(value)
        if single:
            found = struct.unpack(">f", struct.pack(">f", found))[0]
        if found != value:
            raise ValueError(f"{value} is no number of a {'FLOAT' if single else 'DOUBLE'}: it would lose digits")
        return found

    return convert


def _elements(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return lambda values: None if values is None else type(values)(map(convert, values))


def entries(keys: Convert | None, items: Convert | None) -> Convert | None:
    """What converts the keys and the values of a dict.

    Args:
        keys, items: None where they stay.
    """
    if keys is None and items is None:
        return None

    def convert(found: Any) -> Any:
        if found is None:
            return None
        names = found if keys is None else map(keys, found)
        values = found.values() if items is None else map(items, found.values())
        made = dict(zip(names, values, strict=True))
        if len(made) < len(found):
            raise ValueError(f"of {len(found)} keys of the map only {len(made)} are left, as some are equal now")
        return made

    return convert


_Field = tuple[int, Any, Convert | None]
"""Of a new field: its old position, or -1; its default; what converts it."""


def _record(old: Any, new: Any, defaults: Mapping[str, Any], path: str, how: Callable[..., Convert]) -> Convert | None:
    fields: list[_Field] = []
    before = {name: index for index, name in enumerate(old.field_names)}
    for name, field_type in zip(new.field_names, new.field_types, strict=True):
        where, index = _below(path, name), before.get(name, -1)
        if index >= 0:
            fields.append((index, None, conversion(old.field_types[index], field_type, defaults, where)))
        elif where in defaults:
            fields.append((-1, defaults[where], None))
        else:
            lost = [each for each in old.field_names if each not in new.field_names]
            renamed = f"; if it is what {lost[0]!r} was, write a migration" if len(lost) == 1 else ""
            raise Refusal(f"the field {where!r} is new and has no default{renamed}")
    same = [index for index, _, _ in fields] == list(range(len(old.field_names)))
    if same and all(convert is None for _, _, convert in fields):
        return None
    return how(fields, old.field_names, new.field_names)


def _made(fields: list[_Field], values: Any) -> list[Any]:
    return [
        copy.deepcopy(default) if index < 0 else values[index] if convert is None else convert(values[index])
        for index, default, convert in fields
    ]


def _tuple(fields: list[_Field], old: tuple[str, ...], new: tuple[str, ...]) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        if len(value) != len(old):
            raise ValueError(f"{value!r} has {len(value)} fields, and its type said {len(old)}")
        return tuple(_made(fields, value))

    return convert


def _row(fields: list[_Field], old: tuple[str, ...], new: tuple[str, ...]) -> Convert:
    """Rows, and what may stand for one."""

    def convert(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, dict):
            return dict(zip(new, _made(fields, [value.get(name) for name in old]), strict=True))
        names = names_of(value) if isinstance(value, Row) else None
        found = list(value)
        if names is not None and set(names) == set(old):
            found = [found[names.index(name)] for name in old]
        if len(found) != len(old):
            raise ValueError(f"{value!r} has {len(found)} fields, and its type said {len(old)}")
        made = _made(fields, found)
        if not isinstance(value, Row):
            return tuple(made)
        return Row.of_values(made, None if names is None else new, value.get_row_kind())

    return convert
