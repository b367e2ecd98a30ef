"""The schemas for rows in JSON, with PyFlink's names and builders (``pyflink.datastream.formats.json``). Sources of the
semantics: Flink 2.3 ``JsonRowDeserializationSchema``, ``JsonRowSerializationSchema``, and Jackson, which parses and
writes for them: names in the order of the type, no space, doubles as ``Double.toString`` writes them, characters beyond
U+FFFF as two escapes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from datetime import datetime
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import cached_property, partial
from typing import Any, NoReturn, cast

from penstock.common import checks
from penstock.common.row import Row
from penstock.common.typeinfo import BasicType, BasicTypeInfo, RowTypeInfo, SqlTimeType, TypeInformation, Types
from penstock.common.typesystem.conversions import Convert
from penstock.common.typesystem.kinds import by_kind, types_in
from penstock.connectors.java_texts import (
    BYTES,
    TEXTS,
    decimal,
    double,
    fraction,
    iso_date,
    single,
    truth,
    utc_moment,
    utc_time,
)
from penstock.connectors.schemas.base import RowReader, RowWriter, first_fields_of, no_converter, row_type
from penstock.runtime.buffers.value_checks import BITS, Kind, kind_of
from penstock.runtime.columns.layouts import Layout, NoForm, record, scalar, whole
from penstock.runtime.columns.parts import Unfit, elements, entries, fields
from penstock.runtime.io.text import java_double

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]


class JsonRowDeserializationSchema(RowReader):
    """Rows out of JSON objects (Flink: ``JsonRowDeserializationSchema``). Made by :meth:`builder`."""

    advice = (
        "Correct what writes the messages or the type, or call ignore_parse_errors() on the builder: then what cannot "
        "be read is None."
    )

    def __init__(self, type_info: RowTypeInfo, fail_on_missing_field: bool, ignore_parse_errors: bool) -> None:
        self.type_info: RowTypeInfo = type_info
        self.fail_on_missing_field: bool = fail_on_missing_field
        self.ignore_parse_errors: bool = ignore_parse_errors
        _ = self._read  # refuses a type without a form in JSON now, and not in a task

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        """Settings of a schema before it is made."""
        return JsonRowDeserializationSchema.Builder()

    @cached_property
    def _read(self) -> Convert:
        """Reads the beginning of a message. Types with BIG_DEC need fractions as decimal numbers."""
        exact = any(part == Types.BIG_DEC() for part in types_in(self.type_info))
        decode = json.JSONDecoder(parse_float=_stripped if exact else None, parse_constant=_no_constant).raw_decode
        convert = _reader(self.type_info, "", self.fail_on_missing_field, self.ignore_parse_errors)

        def read(message: bytes) -> Any:
            node = decode(message.decode(json.detect_encoding(message)).lstrip(" \t\r\n"))[0]
            return None if node is None else convert(node)

        return read

    @property
    def reading(self) -> Layout:
        """How native code reads the messages; raises NoForm if it does not."""
        return {"format": "json", "strict": self.fail_on_missing_field, **_native_row(self.type_info)}

    class Builder:
        """Settings of a :class:`JsonRowDeserializationSchema`. Methods change it and return it."""

        def __init__(self) -> None:
            self._type_info: RowTypeInfo | None = None
            self._fail_on_missing_field = self._ignore_parse_errors = False

        def type_info(self, type_info: TypeInformation[Any]) -> JsonRowDeserializationSchema.Builder:
            """The type of the rows, such as ``Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])``."""
            self._type_info = row_type(type_info, "JsonRowDeserializationSchema.Builder.type_info")
            return self

        def json_schema(self, json_schema: str) -> JsonRowDeserializationSchema.Builder:
            """The type of the rows, by the text of a JSON schema: drafts up to 7, without unions but those with null.
            Numbers are BIG_DEC, objects and tuples rows. InvalidProgramError if it has what no type is there for."""
            call = "JsonRowDeserializationSchema.Builder.json_schema"
            self._type_info = row_type(type_of_schema(json_schema, call), call)
            return self

        def fail_on_missing_field(self) -> JsonRowDeserializationSchema.Builder:
            """A field that is not there is an error. Otherwise it is None."""
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self) -> JsonRowDeserializationSchema.Builder:
            """A value that cannot be read is None, a field or the whole row. Otherwise it is an error."""
            self._ignore_parse_errors = True
            return self

        def build(self) -> JsonRowDeserializationSchema:
            """The schema; InvalidProgramError if there is no type, or both ways with errors were asked for."""
            if self._type_info is None:
                checks.refuse("JsonRowDeserializationSchema has no type yet. Call type_info(…) before build().")
            if self._fail_on_missing_field and self._ignore_parse_errors:
                checks.illegal_argument(
                    "JsonRowDeserializationSchema has both fail_on_missing_field() and ignore_parse_errors(). "
                    "Leave one out."
                )
            return JsonRowDeserializationSchema(self._type_info, self._fail_on_missing_field, self._ignore_parse_errors)


class JsonRowSerializationSchema(RowWriter):
    """Rows as JSON objects (Flink: ``JsonRowSerializationSchema``), dicts by name, tuples and lists by position. Made
    by :meth:`builder`."""

    def __init__(self, type_info: RowTypeInfo) -> None:
        self.type_info: RowTypeInfo = type_info
        _ = self._write

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        """Settings of a schema before it is made."""
        return JsonRowSerializationSchema.Builder()

    @cached_property
    def _write(self) -> Convert:
        write = _value_writer(self.type_info, "")
        return lambda record: "null" if record is None else write(record)

    @property
    def layout(self) -> Layout:
        """How native code writes the rows; raises NoForm if it does not."""
        return _native_form(self.type_info)

    class Builder:
        """Settings of a :class:`JsonRowSerializationSchema`. Methods change it and return it."""

        def __init__(self) -> None:
            self._type_info: RowTypeInfo | None = None

        def with_type_info(self, type_info: TypeInformation[Any]) -> JsonRowSerializationSchema.Builder:
            """The type of the rows, such as ``Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])``."""
            self._type_info = row_type(type_info, "JsonRowSerializationSchema.Builder.with_type_info")
            return self

        def build(self) -> JsonRowSerializationSchema:
            """The schema; InvalidProgramError if there is no type."""
            if self._type_info is None:
                checks.refuse("JsonRowSerializationSchema has no type yet. Call with_type_info(…) before build().")
            return JsonRowSerializationSchema(self._type_info)


def _no_json(type_info: TypeInformation[Any] | None, field: str, *_: Any) -> NoReturn:
    instead = "Declare it as Types.STRING() to have its JSON as a text, or give it a type that has a form."
    no_converter(type_info, field, "JSON", instead)


def _converters(type_info: RowTypeInfo, field: str, convert: Callable[..., Convert], *options: bool) -> list[Convert]:
    paths = [f"{field}.{name}".lstrip(".") for name in type_info.field_names]
    return [convert(part, path, *options) for part, path in zip(type_info.field_types, paths, strict=True)]


_EXACT = Context(MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _stripped(text: str) -> Decimal:
    """A number without zeros at its end, as Jackson keeps it."""
    return _EXACT.normalize(Decimal(text)) or Decimal(0)


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _reader(type_info: TypeInformation[Any], field: str, strict: bool, lenient: bool) -> Convert:
    """The conversion of a parsed node: ``strict`` refuses missing fields, ``lenient`` makes None of values that do not
    fit."""
    convert = _value_reader(type_info, field, strict, lenient)

    def forgiving(node: Any) -> Any:
        try:
            return convert(node)
        except Unfit:
            return None

    return forgiving if lenient else convert


def _row_reader(type_info: RowTypeInfo, field: str, strict: bool, lenient: bool) -> Convert:
    names = type_info.field_names
    convert = fields(names, _converters(type_info, field, _reader, strict, lenient))

    def read(node: Any) -> Row:
        if type(node) is not dict:
            raise Unfit(node, "is not a JSON object")
        if strict:
            for name in names:
                if name not in node:
                    raise Unfit(node, f"has no field {name!r}").inside(f".{name}")
        return Row.of_values(convert(map(node.get, names)), names)

    return read


def _list_reader(type_info: Any, *options: Any) -> Convert:
    return elements(_reader(type_info.element_type, *options), "JSON array")


def _primitive_array_reader(type_info: Any, field: str, *_: bool) -> Convert:
    """Bytes are base64, and None of other nodes, as in Jackson; null is 0 in an array of other primitives."""
    element = type_info.element_type
    if not isinstance(element, BasicTypeInfo) or element.basic_type not in _CONVERTS:
        _no_json(type_info, field)
    if element.basic_type is BasicType.BYTE:
        return lambda node: BYTES.read(node) if type(node) is str else None
    convert, zero = _CONVERTS[element.basic_type][0], False if element.basic_type is BasicType.BOOLEAN else 0
    return elements(convert, "JSON array", none=zero)


def _map_reader(type_info: Any, *options: Any) -> Convert:
    read = entries(_reader(type_info.key_type, *options), _reader(type_info.value_type, *options))
    return lambda node: read(node if type(node) is dict else {})


def _as_text(node: Any) -> str:
    """``JsonNode.asText``: of an object or array it is empty."""
    kind = type(node)
    if kind is str:
        return node
    if kind is bool:
        return "true" if node else "false"
    if kind is float:
        return java_double(node)
    return str(node) if kind is int or kind is Decimal else ""


def _compact(node: Any) -> str:
    """``JsonNode.toString``."""
    kind = type(node)
    if kind is dict:
        return "{" + ",".join(f"{_compact(key)}:{_compact(value)}" for key, value in node.items()) + "}"
    if kind is list:
        return "[" + ",".join(map(_compact, node)) + "]"
    if node is None:
        return "null"
    if kind is str or (kind is float and not math.isfinite(node)):
        return json.dumps(_as_text(node), ensure_ascii=False)
    return _as_text(node)


def _read_text(read: Convert, node: Any) -> Any:
    try:
        return read(_as_text(node))
    except Unfit as failure:
        raise Unfit(node, failure.why) from None


def _whole_number(basic_type: BasicType) -> Convert:
    """INT and LONG: a number is cut to a whole one if it is in their range; a text is parsed."""
    read, bound = TEXTS[basic_type].read, 1 << TEXTS[basic_type].bits - 1

    def number(node: Any) -> int:
        kind = type(node)
        if kind is int and -bound <= node < bound:
            return node
        if (kind is float or kind is Decimal) and -bound <= node <= bound - 1:
            return int(node)
        return _read_text(read, node)

    return number


def _character(node: Any) -> str | None:
    if type(node) is int and 0 <= node < 1 << 16:
        return chr(node)
    if type(node) is str and len(node) <= 1:
        return node or None
    raise Unfit(node, "is not a single character")


def _decimal(node: Any) -> Decimal:
    if type(node) is Decimal:
        return node
    return Decimal(node) if type(node) is int else _read_text(decimal, node)


_ESCAPED = re.compile('["\\\\\x00-\x1f\U00010000-\U0010ffff\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def _quoted(text: str) -> str:
    """A text as Jackson writes it."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex().upper()
    return _SHORT.get(match[0]) or "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def _row_writer(type_info: RowTypeInfo, field: str) -> Convert:
    names = type_info.field_names
    template = "{" + ",".join([_quoted(name).replace("%", "%%") + ":%s" for name in names]) + "}"
    convert = fields(names, _converters(type_info, field, _value_writer), none="null")
    return lambda record: template % tuple(convert(first_fields_of(record, names)))


def _list_writer(type_info: Any, field: str) -> Convert:
    if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        text = BYTES.checked
        return lambda value: f'"{text(value)}"'
    texts = elements(_value_writer(type_info.element_type, field), none="null")
    return lambda values: "[" + ",".join(texts(values)) + "]"


def _map_writer(type_info: Any, field: str) -> Convert:
    key, value = _value_writer(type_info.key_type, field), _value_writer(type_info.value_type, field)

    def quoted_key(name: Any) -> str:
        text = "null" if name is None else key(name)
        return text if text.startswith('"') else _quoted(text)

    texts = entries(quoted_key, value, none="null")
    return lambda values: "{" + ",".join([f"{name}:{text}" for name, text in texts(values).items()]) + "}"


def _float_writer(basic_type: BasicType) -> Convert:
    """The JSON of a float; infinities and NaN are texts."""
    write = TEXTS[basic_type].checked

    def number(value: Any) -> str:
        text = write(value)
        return text if math.isfinite(value) else f'"{text}"'

    return number


def _moment(value: datetime) -> str:
    return f"{value.date().isoformat()}T{value:%H:%M:%S}{fraction(value.microsecond)}Z"


def _iso(kind: SqlTimeType, read: Convert, write: Convert) -> tuple[Convert, Convert]:
    text = TEXTS[kind]._replace(write=write).checked
    return lambda node: read(_as_text(node)), lambda value: f'"{text(value)}"'


_text = TEXTS[BasicType.STRING]._replace(write=_quoted).checked
_CONVERTS: dict[Kind | None, tuple[Convert, Convert]] = {
    **{kind: (partial(_read_text, texts.read), texts.checked) for kind, texts in TEXTS.items()},
    BasicType.STRING: (lambda node: _compact(node) if isinstance(node, dict | list) else _as_text(node), _text),
    BasicType.CHAR: (_character, _text),
    BasicType.BOOLEAN: (
        lambda node: node if type(node) is bool else truth(_as_text(node)),
        TEXTS[BasicType.BOOLEAN].checked,
    ),
    BasicType.INT: (_whole_number(BasicType.INT), TEXTS[BasicType.INT].checked),
    BasicType.LONG: (_whole_number(BasicType.LONG), TEXTS[BasicType.LONG].checked),
    BasicType.FLOAT: (partial(_read_text, single), _float_writer(BasicType.FLOAT)),
    BasicType.DOUBLE: (
        lambda node: node if type(node) is float else _read_text(double, node),
        _float_writer(BasicType.DOUBLE),
    ),
    BasicType.BIG_DEC: (_decimal, TEXTS[BasicType.BIG_DEC].checked),
    SqlTimeType.DATE: _iso(SqlTimeType.DATE, iso_date, TEXTS[SqlTimeType.DATE].write),
    SqlTimeType.TIME: _iso(SqlTimeType.TIME, utc_time, lambda value: f"{value:%H:%M:%S}Z"),
    SqlTimeType.TIMESTAMP: _iso(SqlTimeType.TIMESTAMP, utc_moment, _moment),
}
"""Readers and writers."""


def _scalar(way: int) -> Callable[..., Convert]:
    """The case of scalars: 0 for reading, 1 for writing."""

    def case(type_info: TypeInformation[Any], field: str, *_: bool) -> Convert:
        if kind_of(type_info) not in _CONVERTS:
            _no_json(type_info, field)
        return _CONVERTS[kind_of(type_info)][way]

    return case


_value_reader = by_kind(
    scalars=_scalar(0),
    times=_scalar(0),
    tuples=_no_json,
    rows=_row_reader,
    lists=_list_reader,
    arrays=_list_reader,
    primitive_arrays=_primitive_array_reader,
    maps=_map_reader,
    objects=_no_json,
)
_value_writer = by_kind(
    scalars=_scalar(1),
    times=_scalar(1),
    tuples=_no_json,
    rows=_row_writer,
    lists=_list_writer,
    arrays=_list_writer,
    maps=_map_writer,
    objects=_no_json,
)


def _native_row(type_info: RowTypeInfo) -> Layout:
    """How native code reads an object."""
    return {"names": list(type_info.field_names), "fields": list(map(_native_field, type_info.field_types))}


def _native_field(type_info: TypeInformation[Any]) -> Layout:
    if isinstance(type_info, RowTypeInfo):
        return {"as": "row", **_native_row(type_info)}
    kind = kind_of(type_info)
    if kind in BITS:
        return {"as": "int", "bits": BITS[kind]}
    if kind is BasicType.FLOAT:
        return {"as": "single"}
    if kind not in _NATIVE:
        raise NoForm
    return {"as": _NATIVE[kind]}


def _native_form(type_info: TypeInformation[Any]) -> Layout:
    """How native code writes a value."""
    if isinstance(type_info, RowTypeInfo):
        labels = [f"{_quoted(name)}:" for name in type_info.field_names]
        fields = list(map(_native_form, type_info.field_types))
        return record(("{", ",", "}"), fields, labels=labels, names=type_info.field_names, none="null")
    kind = kind_of(type_info)
    if kind in BITS:
        return whole(BITS[kind], "null")
    if kind is BasicType.STRING:
        return scalar("json", "null", upper=True, pairs=True)
    if kind not in _NATIVE:
        raise NoForm
    return scalar("bool" if kind is BasicType.BOOLEAN else "java_json", "null")


_NATIVE = {BasicType.DOUBLE: "double", BasicType.BOOLEAN: "bool", BasicType.STRING: "text"}
"""The kinds of fields, beside whole numbers, that native code reads and writes."""

_DEEPEST = 200
_FORMATS = {"date": Types.SQL_DATE(), "time": Types.SQL_TIME(), "date-time": Types.SQL_TIMESTAMP()}
_PLAIN = {"null": None, "boolean": Types.BOOLEAN(), "number": Types.BIG_DEC(), "integer": Types.BIG_DEC()}
_UNIONS = ("allOf", "anyOf", "not", "extends", "disallow")


def type_of_schema(json_schema: str, call: str) -> TypeInformation[Any]:
    """The type of the values of a JSON schema, a text that a call was given."""
    checks.text(json_schema, call, "JSON schema")
    try:
        root = json.loads(json_schema)
    except ValueError as error:
        _refuse(call, f"is not JSON: {error}")
    return _Schema(root, call).type_of(root, "<root>", 0) or _refuse(call, "is null only")


def _refuse(call: str, why: str) -> NoReturn:
    checks.illegal_argument(f"{call}(): the JSON schema {why}. Give the type by Types.ROW_NAMED(…) instead.")


class _Schema:
    def __init__(self, root: Any, call: str) -> None:
        self.root, self.call = root, call

    def type_of(self, node: Any, place: str, depth: int) -> TypeInformation[Any] | None:
        """The type of a node; None for null."""
        if not isinstance(node, dict) or depth > _DEEPEST:
            _refuse(self.call, f"has no schema at {place}, or leads round in a circle there")
        schema = cast("dict[str, Any]", node)
        named = self.types_of(schema, place, depth)
        if any(union in schema for union in _UNIONS):
            _refuse(self.call, f"has one of {', '.join(_UNIONS)} at {place}, which no type is there for")
        types = [type_info for type_info in named if type_info is not None]
        if not named or any(type_info != types[0] for type_info in types):
            _refuse(self.call, f"has {'several types' if named else 'no type'} at {place}")
        return types[0] if types else None

    def types_of(self, node: dict[str, Any], place: str, depth: int) -> list[TypeInformation[Any] | None]:
        reference = node.get("$ref")
        other = self.resolved(reference, node) if isinstance(reference, str) else {}
        types: list[TypeInformation[Any] | None] = []
        if "type" in node:
            kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
            types += [self.named(name, node, place, depth) for name in kinds]
        elif "type" in other:
            types.append(self.type_of(other, str(reference), depth + 1))
        choices = node.get("oneOf", other.get("oneOf"))
        if isinstance(choices, list):
            types += [self.type_of(choice, f"{place}/oneOf", depth + 1) for choice in choices]
        return types

    def named(self, name: Any, node: dict[str, Any], place: str, depth: int) -> TypeInformation[Any] | None:
        if name in _PLAIN:
            return _PLAIN[name]
        if name == "array":
            return self.array(node, place, depth)
        if name == "object":
            parts = node.get("properties", {})
            if node.get("additionalProperties") is True and "properties" in node:
                _refuse(self.call, f"allows additional properties at {place}, and a row has no place for them")
            types = [self.needed(part, f"{place}/{name}", depth) for name, part in parts.items()]
            return Types.ROW_NAMED(list(parts), types)
        if name != "string":
            _refuse(self.call, f"has the type {name!r} at {place}, which JSON does not have")
        if "format" in node or "contentEncoding" not in node:
            return _FORMATS.get(node.get("format", ""), Types.STRING())
        if node["contentEncoding"] != "base64":
            _refuse(self.call, f"has the encoding {node['contentEncoding']!r} at {place}, where only base64 is known")
        return Types.PRIMITIVE_ARRAY(Types.BYTE())

    def array(self, node: dict[str, Any], place: str, depth: int) -> TypeInformation[Any]:
        """An array of one type, or a tuple as a row."""
        items = node.get("items")
        if isinstance(items, dict):
            return Types.OBJECT_ARRAY(self.needed(items, f"{place}/items", depth))
        if not isinstance(items, list):
            _refuse(self.call, f"does not say what the items of the array at {place} are")
        if node.get("additionalItems") is True:
            _refuse(self.call, f"allows additional items at {place}, and a row has no place for them")
        return Types.ROW([self.needed(item, f"{place}/items", depth) for item in items])

    def needed(self, node: Any, place: str, depth: int) -> TypeInformation[Any]:
        """A type that is not null only."""
        return self.type_of(node, place, depth + 1) or _refuse(self.call, f"is null only at {place}")

    def resolved(self, reference: str, origin: dict[str, Any]) -> dict[str, Any]:
        if not reference.startswith("#"):
            _refuse(self.call, f"refers to {reference!r}, which is another document")
        target: Any = self.root
        for part in filter(None, reference[1:].split("/")):
            target = target.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
        if not isinstance(target, dict) or target is origin:
            _refuse(self.call, f"refers to {reference!r}, where nothing else is")
        return cast("dict[str, Any]", target)
