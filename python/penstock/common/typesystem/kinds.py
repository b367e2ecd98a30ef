"""Functions of a type that have a case for each kind of type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Concatenate, TypeVar

from penstock.common.typesystem.types import (
    ArrayTypeInfo,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SqlTimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)

R = TypeVar("R")


def by_kind(
    *,
    scalars: Callable[Concatenate[BasicTypeInfo[Any], ...], R],
    times: Callable[Concatenate[SqlTimeTypeInfo[Any], ...], R],
    tuples: Callable[Concatenate[TupleTypeInfo, ...], R],
    rows: Callable[Concatenate[RowTypeInfo, ...], R],
    lists: Callable[Concatenate[ListTypeInfo[Any], ...], R],
    arrays: Callable[Concatenate[ArrayTypeInfo[Any], ...], R],
    maps: Callable[Concatenate[MapTypeInfo[Any, Any], ...], R],
    objects: Callable[Concatenate[TypeInformation[Any] | None, ...], R],
    primitive_arrays: Callable[Concatenate[PrimitiveArrayTypeInfo[Any], ...], R] | None = None,
) -> Callable[..., R]:
    """The function that calls the case of its first argument, a type; ``objects`` is that of undeclared ones too."""
    cases: list[tuple[type, Callable[..., R]]] = [
        (BasicTypeInfo, scalars),
        (SqlTimeTypeInfo, times),
        (TupleTypeInfo, tuples),
        (RowTypeInfo, rows),
        (ListTypeInfo, lists),
        (PrimitiveArrayTypeInfo, primitive_arrays or arrays),
        (ArrayTypeInfo, arrays),
        (MapTypeInfo, maps),
    ]

    def call(type_info: TypeInformation[Any] | None, *arguments: Any) -> R:
        case = next((case for kind, case in cases if isinstance(type_info, kind)), objects)
        return case(type_info, *arguments)

    return call


def types_in(type_info: TypeInformation[Any] | None) -> Iterator[TypeInformation[Any] | None]:
    """A type and all types inside it."""
    yield type_info
    for part in _parts(type_info):
        yield from types_in(part)


_parts: Callable[..., tuple[TypeInformation[Any], ...]] = by_kind(
    scalars=lambda _: (),
    times=lambda _: (),
    tuples=lambda type_info: type_info.field_types,
    rows=lambda type_info: type_info.field_types,
    lists=lambda type_info: (type_info.element_type,),
    arrays=lambda type_info: (type_info.element_type,),
    maps=lambda type_info: (type_info.key_type, type_info.value_type),
    objects=lambda _: (),
)
