"""The errors of schemas, the fields of a record, and the base of the schemas of rows."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NoReturn

from penstock.common import checks
from penstock.common.row import Row, in_order, names_of
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.common.typesystem.conversions import Convert
from penstock.errors import SerializationError
from penstock.runtime.columns.parts import Unfit

_LOG = logging.getLogger("penstock")
UNWRITABLE = "Make sure that the type of the schema is that of the records."


def unreadable(schema: object, message: bytes, failure: Exception, hint: str) -> NoReturn:
    """Raise SerializationError for a message that a schema cannot read; ``hint`` says what to do."""
    _raise(schema, f"The message is {checks.shown(message)}. {hint}", failure, "java.io.IOException")


def unwritable(schema: object, record: Any, failure: Exception, hint: str = UNWRITABLE) -> NoReturn:
    """Raise SerializationError for a record that a schema cannot write; ``hint`` says what to do."""
    _raise(schema, f"The record is {checks.shown(record)}. {hint}", failure, checks.RUNTIME_EXCEPTION)


def _raise(schema: object, advice: str, failure: Exception, flink_class: str) -> NoReturn:
    if isinstance(failure, Unfit):
        where = f"the field {failure.place!r}" if failure.place else "the record"
        what = f"{where} is {checks.shown(failure.value)}, which {failure.why}"
    else:
        what = str(failure) or type(failure).__name__
    name = type(schema).__name__
    raise SerializationError(f"{name}: {what}. {advice}", flink_class=flink_class) from failure


def row_type(type_info: Any, call: str) -> RowTypeInfo:
    """The type of rows that a call was given; refuses anything else."""
    if not isinstance(type_info, RowTypeInfo):
        checks.illegal_argument(
            f"{call}() was given {checks.shown(type_info)}, where a type of rows is expected. Give "
            "Types.ROW_NAMED(['name', …], [Types.STRING(), …])."
        )
    return type_info


def no_converter(type_info: TypeInformation[Any] | None, field: str, format_name: str, instead: str) -> NoReturn:
    """Refuse a type that a format has no form for."""
    what = f"The field {field!r} has the type {type_info!r}"
    checks.illegal_argument(f"{what}, which has no form in {format_name}. {instead}")


def fields_of(record: Any, names: tuple[str, ...]) -> Sequence[Any]:
    """The fields of a record in the order of its type: of a row or dict with names by name, else by position."""
    if isinstance(record, dict):
        return [record.get(name) for name in names]
    if not isinstance(record, Row | tuple | list):
        raise Unfit(record, "is not a row")
    if len(record) != len(names):
        raise Unfit(record, f"has {len(record)} fields, and its type has {len(names)}: {', '.join(names)}")
    return in_order(record, names) if isinstance(record, Row) else record


def first_fields_of(record: Any, names: tuple[str, ...]) -> Sequence[Any]:
    """As :func:`fields_of`, but of a longer record the first fields are taken, whatever their names, as Flink's JSON
    and Avro schemas do. A warning says so where the names contradict."""
    if not isinstance(record, Row | tuple | list) or len(record) <= len(names):
        return fields_of(record, names)
    own_names = names_of(record) if isinstance(record, Row) else None
    if own_names is not None:
        _warn_of_places(own_names, names)
    return tuple(record)[: len(names)]


@lru_cache(maxsize=256)
def _warn_of_places(own_names: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Warn, once for each pair, where a narrower type has a name of the row at another place."""
    moved = next((name for at, name in enumerate(names) if name in own_names and own_names[at] != name), None)
    if moved is not None:
        _LOG.warning(
            "A schema with the fields %s writes rows with the fields %s. Flink takes fields by position, so %r is the "
            "row's %r. If you mean the row's own %r, map() to a row that begins with it, or list the fields before it.",
            *(list(names), list(own_names), moved, own_names[names.index(moved)], moved),
        )


class TypedRows:
    """Base of the schemas of rows. Their converters are not pickled: a task makes its own."""

    type_info: RowTypeInfo

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.type_info!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name[0] != "_"}


class RowReader(TypedRows, DeserializationSchema[Row | None]):
    """Base of the schemas that read rows."""

    ignore_parse_errors: bool
    advice: str

    @property
    def _read(self) -> Convert:
        """The conversion of a message; raises ValueError or RecursionError if it is not a row."""
        raise NotImplementedError

    def deserialize(self, message: bytes, /) -> Row | None:
        """The row of a message, None for ``null`` in JSON; SerializationError if it cannot be read, or None if parse
        errors are ignored. O(the message)."""
        try:
            return self._read(message)
        except (ValueError, RecursionError) as failure:
            if self.ignore_parse_errors:
                return None
            unreadable(self, message, failure, self.advice)

    def get_produced_type(self) -> TypeInformation[Any]:
        return self.type_info


class RowWriter(TypedRows, SerializationSchema[Any]):
    """Base of the schemas that write rows."""

    @property
    def _write(self) -> Convert:
        """The conversion of a row into text; raises ValueError or RecursionError if it does not fit."""
        raise NotImplementedError

    def serialize(self, element: Any, /) -> bytes:
        """The text of a row, in UTF-8; SerializationError if the row does not fit its type. O(the row)."""
        try:
            return self._write(element).encode()
        except (ValueError, RecursionError) as failure:
            unwritable(self, element, failure)
