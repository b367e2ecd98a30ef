"""Keys and fields: selectors by position or name, and Flink's rules on the fields that types have.

Three of Flink's rules meet here and differ: ``keyBy`` (``Keys.ExpressionKeys``) makes a tuple of the chosen fields,
even of one; ``partitionCustom`` takes one field as it is; ``sum`` and its kin (``FieldAccessorFactory``) also accept a
scalar as "field 0". All hold for declared types only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

from penstock.common import checks
from penstock.common.row import Row, names_of
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ObjectArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from penstock.datastream.functions import KeySelector
from penstock.errors import TypeInfoError

Field = int | str

NUMERIC = frozenset({BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.FLOAT, BasicType.DOUBLE})
"""The types that Flink's SumFunction can add (not BigInteger, BigDecimal or String)."""


class FieldsKey(KeySelector[Any, tuple[Any, ...]]):
    """A key of several fields: a tuple, also of only one field (as in Flink's ``keyBy(0)``)."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields: tuple[Field, ...] = tuple(fields)

    def get_key(self, value: Any) -> tuple[Any, ...]:
        return tuple([field_of(value, field) for field in self.fields])

    def __repr__(self) -> str:
        return f"FieldsKey({list(self.fields)})"


class FieldKey(KeySelector[Any, Any]):
    """A key that is one field itself (as in Flink's ``partitionCustom(p, 0)``)."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def get_key(self, value: Any) -> Any:
        return field_of(value, self.field)

    def __repr__(self) -> str:
        return f"FieldKey({self.field!r})"


def field_of(value: Any, field: Field) -> Any:
    """A field of a record by position or name; "f1" of a record without names is position 1."""
    try:
        if isinstance(value, str | dict):  # they can be subscripted, but their elements are not fields
            raise TypeError
        if isinstance(field, int) or (isinstance(value, Row) and names_of(value) is not None):
            return value[field]
        digits = field[1:] if field.startswith("f") else field
        if not digits.isdigit():
            raise LookupError
        return value[int(digits)]
    except (LookupError, TypeError, ValueError):
        raise TypeInfoError(
            f"The record {checks.shown(value)} has no field {field!r}. Fields of tuples are 0, 1, … or f0, f1, …, "
            "those of rows have names. Give one that every record has, or a function: key_by(lambda record: …)."
        ) from None


class Projection:
    """The function of ``project``."""

    def __init__(self, fields: Sequence[int]) -> None:
        self.fields: tuple[int, ...] = tuple(fields)

    def map(self, value: Any) -> tuple[Any, ...]:
        return tuple([field_of(value, field) for field in self.fields])


def key_by(
    stream_type: TypeInformation[Any] | None,
    selector: Any,
    more: Sequence[Any],
    key_type: TypeInformation[Any] | None,
    call: str = "key_by",
) -> tuple[Any, TypeInformation[Any] | None]:
    """Selector and key type of ``key_by``, checked."""
    if len(more) == 1 and isinstance(more[0], TypeInformation) and key_type is None:
        more, key_type = (), checks.type_info(more[0], call, "key_type")
    checks.type_info(key_type, call, "key_type")
    if _is_field(selector):
        return _fields_key(stream_type, [selector, *more], key_type)
    if len(more) == 1 and key_type is None and not _is_field(more[0]):  # a type would be the key_type by now
        checks.type_info(more[0], call, "key_type")
    if more:
        checks.refuse(
            f"{call}() was given a key selector and also {list(more)!r}. Give either one selector and its key_type, or "
            "positions, or field names."
        )
    if isinstance(selector, list | tuple):
        checks.refuse(
            f"{call}() was given {checks.shown(selector)}. Give fields one by one, {call}(0, 1), or a function: "
            f"{call}(lambda record: …)."
        )
    _check_key_type(key_type)
    return checks.function(selector, call, "get_key"), key_type


def _is_field(value: Any) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or isinstance(value, str)


def _fields_key(
    stream_type: TypeInformation[Any] | None, fields: list[Any], key_type: TypeInformation[Any] | None
) -> tuple[FieldsKey, TypeInformation[Any] | None]:
    kind = cast("type[object]", type(fields[0]))
    if any(type(field) is not kind for field in fields):
        checks.refuse(f"key_by() was given {fields!r}. Use positions only, or field names only.")
    if key_type is not None:
        checks.refuse(
            f"key_by({', '.join(map(repr, fields))}) was also given key_type={key_type!r}; the fields' types follow "
            "from the stream's type. Leave key_type out."
        )
    if not checks.declared(stream_type):
        _check_not_negative(fields, "key_by")
        return FieldsKey(fields), None
    if (
        isinstance(fields[0], int)
        and isinstance(stream_type, ArrayTypeInfo)
        and not isinstance(stream_type, ObjectArrayTypeInfo)
    ):
        return FieldsKey(fields), Types.TUPLE([stream_type.element_type] * len(fields))
    positions, types = zip(*(_key_field(stream_type, field, "key_by") for field in fields), strict=True)
    key_type = Types.TUPLE(types)
    _check_key_type(key_type)
    return FieldsKey(positions), key_type


def _check_not_negative(fields: Sequence[Field], call: str) -> None:
    """The only check for undeclared records: Python counts −1 from the end, Flink does not."""
    for field in fields:
        if isinstance(field, int) and field < 0:
            checks.refuse(
                f"{call}() was given the position {field}; positions count from 0. Give 0 or more.",
                checks.INDEX_OUT_OF_BOUNDS,
            )


def _key_field(stream_type: TypeInformation[Any], field: Field, call: str) -> tuple[int, TypeInformation[object]]:
    prefix = f"{call}() was given the {'position' if isinstance(field, int) else 'field name'} {field!r}, but"
    if not isinstance(stream_type, TupleTypeInfo | RowTypeInfo):
        none = ": only tuples and rows have positions" if isinstance(field, int) else ", which has no fields"
        checks.refuse(
            f"{prefix} the stream's type is {stream_type}{none}. Give a function instead: lambda value: …",
            checks.INVALID_PROGRAM,
        )
    position = field if isinstance(field, int) else _position_by_name(stream_type, field)
    if position is None:
        checks.refuse(
            f"{prefix} {stream_type} has the fields {list(stream_type.field_names)}. Give one of these, or a function.",
            checks.INVALID_FIELD,
        )
    if not 0 <= position < len(stream_type.field_types):
        checks.refuse(
            f"{prefix} {stream_type} has the positions 0 to {len(stream_type.field_types) - 1}. Give one of these.",
            checks.INDEX_OUT_OF_BOUNDS,
        )
    return position, stream_type.field_types[position]


def _position_by_name(stream_type: TupleTypeInfo | RowTypeInfo, name: str) -> int | None:
    if name in stream_type.field_names:
        return stream_type.field_names.index(name)
    return int(name) if name.isdigit() and int(name) < len(stream_type.field_types) else None


def _check_key_type(key_type: TypeInformation[Any] | None) -> None:
    """Arrays have no value-based hash in Java, so Flink refuses them as keys, also inside tuples."""
    pending = [key_type]
    while pending:
        current = pending.pop()
        if isinstance(current, ArrayTypeInfo):
            checks.refuse(
                f"key_by() was given the key type {key_type}, which contains an array ({current}); equal arrays can "
                "hash differently, so records of one key would be scattered. Make the key a tuple or a text.",
                checks.INVALID_PROGRAM,
            )
        if isinstance(current, TupleTypeInfo | RowTypeInfo):
            pending.extend(current.field_types)


def one_key(
    stream_type: TypeInformation[Any] | None, selector: Any, call: str
) -> Callable[[Any], Any] | KeySelector[Any, Any]:
    """Key selector of ``partition_custom``: a callable, a KeySelector, or one field."""
    if not _is_field(selector):
        return checks.function(selector, call, "get_key")
    if checks.declared(stream_type):
        return FieldKey(_key_field(stream_type, selector, call)[0])
    _check_not_negative([selector], call)
    return FieldKey(selector)


def aggregated_field(stream_type: TypeInformation[Any] | None, field: Any, call: str, *, numeric: bool) -> Field:
    """The field that sum, min, max, min_by, max_by work on, as the runtime takes it."""
    if not _is_field(field):
        checks.refuse(f"{call}() was given {checks.shown(field)}. Give a position (int) or a field name (str).")
    if not checks.declared(stream_type):
        _check_not_negative([field], call)
        return field
    if isinstance(stream_type, TupleTypeInfo | RowTypeInfo):
        position = field if isinstance(field, int) else _position_by_name(stream_type, field)
        if position is None or not 0 <= position < len(stream_type.field_types):
            names = list(stream_type.field_names)
            _no_field(stream_type, field, call, f"it has the fields {names} (or positions from 0)")
        field_type = stream_type.field_types[position]
    elif isinstance(stream_type, BasicTypeInfo):
        if field not in (0, "0", "*"):
            _no_field(stream_type, field, call, "a single value has only position 0, which is the value itself")
        position, field_type = 0, stream_type
    elif isinstance(stream_type, ArrayTypeInfo) and isinstance(field, int):
        position, field_type = field, stream_type.element_type
    else:
        _no_field(stream_type, field, call, "only tuples, rows, arrays and single values can be aggregated by field")
    addable = isinstance(field_type, BasicTypeInfo) and field_type.basic_type in NUMERIC
    if numeric and checks.declared(field_type) and not addable:
        checks.refuse(
            f"{call}({field!r}) on a stream of {stream_type}: the field is of type {field_type}, which cannot be added "
            "up. Sum a field of type BYTE, SHORT, INT, LONG, FLOAT or DOUBLE, or use reduce().",
            checks.RUNTIME_EXCEPTION,
        )
    return position


def _no_field(stream_type: TypeInformation[Any], field: Any, call: str, because: str) -> NoReturn:
    checks.refuse(
        f"{call}({field!r}) on a stream of {stream_type}: there is no such field. Give another: {because}.",
        checks.INVALID_FIELD,
    )


def projected_type(stream_type: TypeInformation[Any] | None, fields: Sequence[int]) -> TypeInformation[Any] | None:
    """Result type of ``project``, after its checks."""
    for field in fields:
        if isinstance(field, list | tuple):
            positions = list(cast("Sequence[Any]", field))
            checks.refuse(f"project() was given {field!r}. Give positions one by one: project({str(positions)[1:-1]}).")
        checks.integer(field, "project", "field position")
    if not 1 <= len(fields) <= 24:  # Flink keeps one below its largest tuple
        checks.illegal_argument(
            f"project() was given {len(fields)} positions; 1 to 24 fields can be kept. Give those to keep: project(0)."
        )
    if not checks.declared(stream_type):
        _check_not_negative(fields, "project")
        return None
    if not isinstance(stream_type, TupleTypeInfo):
        checks.refuse(
            f"project() on a stream of {stream_type}: only tuples have fields to keep. Use map().",
            checks.RUNTIME_EXCEPTION,
        )
    for field in fields:
        if not 0 <= field < len(stream_type.field_types):
            checks.refuse(
                f"project({field}) on a stream of {stream_type}: positions are 0 to "
                f"{len(stream_type.field_types) - 1}. Give one of these.",
                checks.INDEX_OUT_OF_BOUNDS,
            )
    return Types.TUPLE([stream_type.field_types[field] for field in fields])
