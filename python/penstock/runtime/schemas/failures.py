"""How it is said that a schema cannot read or write a value."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock.common import checks
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.errors import SerializationError
from penstock.runtime.io.java_texts import Unfit


def unreadable(schema: object, message: bytes, failure: Exception, hint: str) -> NoReturn:
    """Refuse a message.

    Args:
        schema: that cannot read it.
        message: as it came.
        failure: what happened.
        hint: what to do.

    Raises:
        SerializationError: always.
    """
    _raise(schema, f"The message is {checks.shown(message)}. {hint}", failure, "java.io.IOException")


def unwritable(schema: object, record: Any, failure: Exception, hint: str) -> NoReturn:
    """Refuse a record: :func:`unreadable` the other way round."""
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
    """A type of rows, or an error that says so.

    Raises:
        InvalidProgramError: it is another type, or none.
    """
    if not isinstance(type_info, RowTypeInfo):
        checks.illegal_argument(
            f"{call}() was given {checks.shown(type_info)}, where a type of rows is expected. Give "
            "Types.ROW_NAMED(['name', …], [Types.STRING(), …])."
        )
    return type_info


def no_converter(type_info: TypeInformation[Any], field: str, format_name: str, instead: str) -> NoReturn:
    """Refuse a type that a format has no form for."""
    checks.illegal_argument(
        f"The field {field!r} has the type {type_info!r}, which has no form in {format_name}. {instead}"
    )
