"""The errors of schemas, and the base of the schemas of rows."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock.common import checks
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.connectors.java_texts import Unfit
from penstock.errors import SerializationError


def unreadable(schema: object, message: bytes, failure: Exception, hint: str) -> NoReturn:
    """Raise SerializationError for a message that a schema cannot read; ``hint`` says what to do."""
    _raise(schema, f"The message is {checks.shown(message)}. {hint}", failure, "java.io.IOException")


def unwritable(schema: object, record: Any, failure: Exception, hint: str) -> NoReturn:
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
    checks.illegal_argument(
        f"The field {field!r} has the type {type_info!r}, which has no form in {format_name}. {instead}"
    )


class TypedRows:
    """Base of the schemas of rows. Their converters are not pickled: a task makes its own."""

    type_info: RowTypeInfo

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.type_info!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name[0] != "_"}
