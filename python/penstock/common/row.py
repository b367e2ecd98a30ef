"""Row and RowKind: PyFlink's record with optional field names and a kind of change (``pyflink.common.types``)."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from operator import itemgetter
from typing import Any, cast

from penstock.common.java.java_types import JavaRowKind
from penstock.errors import TypeInfoError, UnknownFieldError


class RowKind(Enum):
    """The kind of change that a row is; the value is Flink's byte for it."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return ("+I", "-U", "+U", "-D")[self.value]

    def to_j_row_kind(self) -> JavaRowKind:
        """The kind's object in Java (PyFlink)."""
        return JavaRowKind(self.name, str(self), self.value)


class Row:
    """A fixed number of fields, by position or by name.

    ``Row("a", 1)`` has positions only, ``Row(word="a", count=1)`` also names (``row.word``, ``row["word"]``,
    ``row[0]``). Rows are equal if their kinds and values are, and their names, in whatever order, as in PyFlink.
    Positional and named fields together are a TypeInfoError.
    """

    __slots__ = ("_kind", "_names", "_values")

    _names: tuple[str, ...] | None
    _kind: RowKind
    _values: list[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise TypeInfoError(
                f"Row was given {len(args)} positional and {len(kwargs)} named fields. Name all fields or none of them."
            )
        object.__setattr__(self, "_names", tuple(kwargs) if kwargs else None)
        object.__setattr__(self, "_values", list(kwargs.values()) if kwargs else list(args))
        object.__setattr__(self, "_kind", RowKind.INSERT)

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """A row of the given kind."""
        row = Row(*args, **kwargs)
        row.set_row_kind(row_kind)
        return row

    @classmethod
    def of_values(
        cls, values: Sequence[Any], fields: tuple[str, ...] | None = None, kind: RowKind = RowKind.INSERT
    ) -> Row:
        """The fast way for codecs: no keyword handling, the names tuple is shared between rows."""
        row = cls.__new__(cls)
        object.__setattr__(row, "_names", fields)
        object.__setattr__(row, "_values", list(values))
        object.__setattr__(row, "_kind", kind)
        return row

    def get_row_kind(self) -> RowKind:
        """The kind, INSERT unless set."""
        return self._kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Change the kind."""
        if not isinstance(row_kind, RowKind):
            raise TypeInfoError(f"Row.set_row_kind was given {row_kind!r}. Give a RowKind such as RowKind.DELETE.")
        object.__setattr__(self, "_kind", row_kind)

    def set_field_names(self, field_names: Sequence[str]) -> None:
        """Name the fields, one name per value."""
        if len(field_names) != len(self._values):
            raise TypeInfoError(
                f"Row has {len(self._values)} fields but set_field_names() was given "
                f"{list(field_names)}. Give one name per field."
            )
        object.__setattr__(self, "_names", tuple(field_names))

    def get_fields_by_names(self, names: Sequence[str]) -> list[Any]:
        """Values in the order of the names, or UnknownFieldError; of a row without names in their own order
        (PyFlink)."""
        return [self[name] for name in names] if self._names is not None else list(self._values)

    @property
    def field_names(self) -> tuple[str, ...] | None:
        """The names, or None for a row by position; a field that is called so comes first."""
        return self._called("field_names") if "field_names" in (self._names or ()) else self._names

    @property
    def values(self) -> tuple[Any, ...]:
        """The values in order; a field that is called so comes first. ``tuple(row)`` are always the values."""
        return self._called("values") if "values" in (self._names or ()) else tuple(self._values)

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """Name → value, with ``recursive`` also of rows in rows, lists and dicts; TypeInfoError without names."""
        if self._names is None:
            raise TypeInfoError(
                f"as_dict() of {self!r}, which has no field names and so no dict form. Build it as Row(name=value)."
            )
        values = map(_plain, self._values) if recursive else self._values
        return dict(zip(self._names, values, strict=False))

    def __call__(self, *values: Any) -> Row:
        """A row whose names are the first values of this one: ``Point = Row("x", "y"); Point(1, 2).x``."""
        names: tuple[str, ...] = tuple(self._values)
        if len(values) > len(names):
            raise TypeInfoError(
                f"{self!r} was called for a row of its fields, {len(names)} of them, with {len(values)} values. "
                "Give as many values as there are names."
            )
        return Row.of_values(values, names, self._kind)

    def _position(self, name: object) -> int:
        if self._names is not None and name in self._names:
            position = self._names.index(cast("str", name))
            if position < len(self._values):  # a class of rows may have been called with fewer values
                return position
        has = "no field names" if self._names is None else f"the fields {list(self._names[: len(self._values)])}"
        raise UnknownFieldError(f"Row has no field {name!r}: it has {has}.")

    def _called(self, name: str) -> Any:
        return self._values[self._position(name)]

    def __getattr__(self, name: str) -> Any:
        if name == "_fields" and self._names is not None:  # as PyFlink keeps them, which its programs look at
            return list(self._names)
        if name.startswith("__") or name in _PRIVATE:  # pickle and copy probe these before there are any slots
            raise AttributeError(name)
        return self._called(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._values[self._position(name)] = value

    def __getitem__(self, item: int | str | slice) -> Any:
        return self._values[item] if isinstance(item, int | slice) else self._called(item)

    def __setitem__(self, key: int | str | slice, value: Any) -> None:
        self._values[key if isinstance(key, int | slice) else self._position(key)] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, item: object) -> bool:
        """Whether it is the name of a field; of a row without names, whether it is a value."""
        return item in (self._values if self._names is None else self._names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        if self._kind is not other._kind or type(self) is not type(other):
            return False
        if self._names == other._names:
            return self._values == other._values
        if self._names is None or other._names is None or set(self._names) != set(other._names):
            return False
        return self._by_name() == other._by_name()

    def __hash__(self) -> int:
        """That of the tuple of its values, by name: rows that differ in the order of their names have the same."""
        return hash(tuple(self._values if self._names is None else self._by_name()))

    def _by_name(self) -> list[Any]:
        fields = zip(self._names or (), self._values, strict=False)
        return [value for _, value in sorted(fields, key=itemgetter(0))]

    def __reduce__(self) -> tuple[Any, ...]:
        if type(self) is not Row:
            return type(self).of_values, (self._values, self._names, self._kind)
        if self._kind is RowKind.INSERT:  # by far the most, and by a function, which takes a fifth of the time
            return _row, (self._values, self._names)
        return _row, (self._values, self._names, self._kind)

    def __repr__(self) -> str:
        if self._names is None:
            return f"<Row({', '.join(map(repr, self._values))})>"
        return f"Row({', '.join(f'{n}={v!r}' for n, v in zip(self._names, self._values, strict=False))})"


_PRIVATE = frozenset({*Row.__slots__, "_fields"})


def names_of(row: Row) -> tuple[str, ...] | None:
    """The names of a row's fields, None for a row by position, whatever its fields are called."""
    return row._names  # pyright: ignore[reportPrivateUsage]


def _row(values: list[Any], names: tuple[str, ...] | None, kind: RowKind = RowKind.INSERT) -> Row:
    """Make the row of a pickle."""
    return Row.of_values(values, names, kind)


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(True)
    if isinstance(value, list):
        return [_plain(v) for v in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in cast("dict[Any, Any]", value).items()}
    return value


def in_order(row: Row, names: tuple[str, ...]) -> Sequence[Any]:
    """The values of a row in the order of some names: by name where it has the same ones, else by position."""
    own_names = names_of(row)
    by_name = own_names is not None and own_names != names and set(own_names) == set(names)
    return row.get_fields_by_names(names) if by_name else tuple(row)
