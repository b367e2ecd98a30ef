"""Columns for values of Flink's: their types, and what converts values for them.

The types are those that our own state is declared with, so the columns of both are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.common.row import Row
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.typesystem.conversions import Convert, optional, same
from penstock.flink.cursor import plain


class NoColumn(Exception):
    """A type whose values no column takes; its text says which and why."""


@dataclass(frozen=True)
class Column:
    """The column for a type."""

    type: TypeInformation[Any]
    convert: Convert | None = None  # of a value or None; without it values are used as they are; raises ValueError


def row_of(names: Sequence[str], columns: Sequence[Column], what: str) -> tuple[TypeInformation[Any], Convert]:
    """The type of a row with fields, and the function that makes one of their values. NoColumn if there are none."""
    if not names:
        raise NoColumn(f"{plain(what)} has no fields")
    own_names, converts = tuple(names), [column.convert or same for column in columns]

    def make(values: Sequence[Any]) -> Row:
        return Row.of_values([convert(value) for convert, value in zip(converts, values, strict=True)], own_names)

    return Types.ROW_NAMED(list(names), [column.type for column in columns]), make


def list_of(element: Column) -> Column:
    """The column for lists of values."""
    convert = element.convert
    as_list: Convert | None = convert and optional(lambda values: list(map(convert, values)))
    return Column(Types.LIST(element.type), as_list)


def map_of(key: Column, item: Column, *, hashable: bool) -> Column:
    """The column for maps; a list of rows with ``key`` and ``value`` if the keys are not ``hashable``."""
    if not hashable:
        pair, make = row_of(["key", "value"], [key, item], "a map")
        return Column(Types.LIST(pair), optional(lambda pairs: list(map(make, pairs))))
    map_type = Types.MAP(key.type, item.type)
    if key.convert is None and item.convert is None:
        return Column(map_type)
    convert_key, convert_item = key.convert or same, item.convert or same

    def convert(value: dict[Any, Any]) -> dict[Any, Any]:
        converted = {convert_key(name): convert_item(mapped) for name, mapped in value.items()}
        if len(converted) < len(value):
            raise ValueError("two keys of a map are the same in microseconds")
        return converted

    return Column(map_type, optional(convert))
