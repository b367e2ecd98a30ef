"""Values as JSON has them, by type of column: numbers, texts, lists and objects as they are; days, times and bytes as
texts, as in CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, cast

from penstock.common import column_types as ct
from penstock.common.conversions import Convert, optional
from penstock.runtime.io.formats.csv_values import reader as of_text
from penstock.runtime.io.formats.csv_values import writer as to_text
from penstock.runtime.io.formats.fields import BITS, fields_of, maker, within
from penstock.runtime.io.formats.outward import of_kind

_NUMBERS = (ct.FloatType, ct.DoubleType, ct.DecimalType)


class Misfit(Exception):
    """A value that is none of its type.

    Args:
        path: names of fields that lead there.
        value: as it is.
        wanted: its type.
        why: what is wrong.
    """

    def __init__(self, path: str, value: Any, wanted: ct.DataType, why: str) -> None:
        super().__init__(path, value, wanted, why)
        self.path, self.value, self.wanted, self.why = path, value, wanted, why


def reader(wanted: ct.DataType, path: str = "") -> Convert:
    """What makes of a value in JSON one in a record. It raises :class:`Misfit`.

    Args:
        wanted: type of the value.
        path: names of fields that lead there.
    """
    convert = _reader(wanted, path)

    def checked(value: Any) -> Any:
        if value is None:
            if wanted.nullable:
                return None
            raise Misfit(path, None, wanted, "it is not there; declare the type nullable")
        try:
            return convert(value)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise Misfit(path, value, wanted, str(error) or type(error).__name__) from error

    return checked


def _reader(wanted: ct.DataType, path: str) -> Convert:
    if type(wanted) in BITS:
        return _integer(wanted)
    if isinstance(wanted, _NUMBERS):
        text = of_text(wanted, "", None)
        return lambda value: text(str(_of(value, int, float, Decimal, str)))
    if isinstance(wanted, ct.BooleanType):
        return lambda value: _of(value, bool)
    if isinstance(wanted, ct.ArrayType):
        element = reader(wanted.element_type, f"{path}[]")
        return lambda value: list(map(element, _of(value, list)))
    if isinstance(wanted, ct.MapType):
        key, item = of_text(wanted.key_type, "", None), reader(wanted.value_type, f"{path}{{}}")
        return lambda value: {key(k): item(v) for k, v in _of(value, dict).items()}
    if isinstance(wanted, ct.RowType):
        return _row(wanted, path)
    text = of_text(wanted, "", None)
    return lambda value: text(_of(value, str))


def _of(value: Any, *kinds: type) -> Any:
    if type(value) in kinds:
        return value
    raise TypeError(f"it is a {type(value).__name__}, not a {kinds[-1].__name__}")


def _integer(wanted: ct.DataType) -> Convert:
    fit = within(BITS[type(wanted)])
    return lambda value: fit(_of(value, int))


def _row(wanted: ct.RowType, path: str) -> Convert:
    fields = [(each.name, reader(each.data_type, f"{path}.{each.name}".lstrip("."))) for each in wanted]
    make = maker(wanted)
    return lambda value: make([read(_of(value, dict).get(name)) for name, read in fields])


def writer(wanted: ct.DataType, path: str = "") -> Convert:
    """What makes of a value in a record one that JSON has. It raises :class:`Misfit`.

    Args:
        wanted: type of the value.
        path: names of fields that lead there.
    """
    convert = _writer(wanted, path)

    def checked(value: Any) -> Any:
        if value is None and not wanted.nullable:
            raise Misfit(path, None, wanted, "the field has no place for None")
        try:
            return convert(of_kind(value, wanted))
        except (ValueError, TypeError, ArithmeticError) as error:
            raise Misfit(path, value, wanted, str(error) or type(error).__name__) from error

    return checked if not wanted.nullable else optional(checked)


def _writer(wanted: ct.DataType, path: str) -> Callable[[Any], Any]:
    if type(wanted) in BITS:
        return _integer(wanted)
    if isinstance(wanted, ct.FloatType | ct.DoubleType):
        return lambda value: value if abs(value) < float("inf") else to_text(wanted)(value)
    if isinstance(wanted, ct.BooleanType | ct.VarCharType):
        return lambda value: value
    if isinstance(wanted, ct.ArrayType):
        element = writer(wanted.element_type, f"{path}[]")
        return lambda values: list(map(element, values))
    if isinstance(wanted, ct.MapType):
        key, item = to_text(wanted.key_type), writer(wanted.value_type, f"{path}{{}}")
        return lambda value: {key(k): item(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(wanted, ct.RowType):
        return _object(wanted, path)
    return to_text(wanted)


def _object(wanted: ct.RowType, path: str) -> Convert:
    names, known = tuple(wanted.names), frozenset(wanted.names)
    writers = [writer(each.data_type, f"{path}.{each.name}".lstrip(".")) for each in wanted]

    def made(value: Any) -> dict[str, Any]:
        values = fields_of(value, names, known)
        return {name: write(each) for name, write, each in zip(names, writers, values, strict=True)}

    return made
