"""The pass from serializers to readers: one case for each of Flink's serializers with parts, and the table of those
without in :mod:`~penstock.flink.entries.scalars`.

A reader is a closure over the readers of its parts, so nothing is looked up while values are read. Its cost is linear
in the bytes of a value; the depth of calls is that of the type, which a state file limits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.flink.cursor import plain
from penstock.flink.entries import kafka_partitions
from penstock.flink.entries.avro import avro_reader
from penstock.flink.entries.scalars import SCALARS, Reader, counted, row_reader
from penstock.flink.entries.values import Either, JoinedElement, Pairs, Pojo, StreamRecord, Ttl, Watermark
from penstock.flink.snapshots import BASE, JAVA, Serializer

KRYO = f"{JAVA}kryo.KryoSerializer"
_INT = struct.Struct(">i").unpack_from
_LONG = struct.Struct(">q").unpack_from


class Unreadable(Exception):
    """A serializer whose values only its own class can read; its text says which."""


@dataclass(frozen=True)
class Form:
    """How values of a type are read."""

    read: Reader
    length: int = -1  # of each value, by Flink's ``getLength``; -1 if they differ
    hashable: bool = False  # whether values equal in Python are those equal in Java, and can be keys of a dictionary


def form_of(serializer: Serializer) -> Form:
    """The form of a serializer's values.

    Args:
        serializer: as a state file names it.

    Raises:
        Unreadable: it, or one that it has parts of, is not known here.

    Cost: linear in the serializers that it has parts of.
    """
    name = serializer.serializer
    if name in SCALARS:
        read, length = SCALARS[name]
        return Form(read, length, hashable=not name.endswith(_NOT_HASHABLE))
    if name == KRYO and serializer.named == kafka_partitions.CLASS:
        return Form(kafka_partitions.read_partition)
    case = _CASES.get(name)
    if case is None:
        raise Unreadable(_refusal(serializer))
    make_form, parts = case
    if parts is not None and len(serializer.nested) != parts:
        raise Unreadable(f"{plain(name)} with {len(serializer.nested)} serializers in place of {parts}")
    return make_form(serializer)


_NOT_HASHABLE = ("FloatSerializer", "DoubleSerializer", "ValueSerializer", "BigDecSerializer", "ArraySerializer")
"""Endings of scalars whose values are lists, or equal in Python and not in Java (0.0 and -0.0, 1.0 and 1.00)."""


def _refusal(serializer: Serializer) -> str:
    """The serializer that cannot be read, for messages."""
    name = plain(serializer.serializer) or "a serializer that Flink could not write down"
    of = f" of {plain(serializer.named)}" if serializer.named else ""
    if name == KRYO:
        return f"Kryo, which only Java reads ({name}{of})"
    return f"{name}{of}"


def _elements(read_element: Reader) -> Form:
    """Elements after their number: a list, array or set. A set is a list, as not all values can be in one of Python."""

    def read(data: bytes, at: int) -> tuple[list[Any], int]:
        (count,) = _INT(data, at)
        at += 4
        values: list[Any] = []
        for _ in range(counted(count, data, at)):
            value, at = read_element(data, at)
            values.append(value)
        return values, at

    return Form(read)


def _list(serializer: Serializer) -> Form:
    return _elements(form_of(serializer.nested[0]).read)


def _set(serializer: Serializer) -> Form:
    return _elements(_nullable_reader(form_of(serializer.nested[0]).read, null=1))


def _array(serializer: Serializer) -> Form:
    return _elements(_nullable_reader(form_of(serializer.nested[0]).read, null=0))


def map_of(key: Form) -> Callable[[list[tuple[Any, Any]]], Any]:
    """A function that makes a map of pairs: a dictionary, where the keys can be such."""
    return dict if key.hashable else Pairs


def _map(serializer: Serializer) -> Form:
    key, value = map(form_of, serializer.nested)
    read_key, read_value, whole = key.read, value.read, map_of(key)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        (count,) = _INT(data, at)
        at += 4
        pairs: list[tuple[Any, Any]] = []
        for _ in range(counted(count, data, at)):
            entry, at = read_key(data, at)
            if data[at]:
                item, at = None, at + 1
            else:
                item, at = read_value(data, at + 1)
            pairs.append((entry, item))
        return whole(pairs), at

    return Form(read)


def _nullable_reader(read_value: Reader, null: int, padding: int = 0) -> Reader:
    """The reader of a value after a boolean; ``null`` is 1 if true means null, 0 if it means a value."""

    def read(data: bytes, at: int) -> tuple[Any, int]:
        if (data[at] != 0) == null:
            at += 1 + padding
            if at > len(data):
                raise IndexError
            return None, at
        return read_value(data, at + 1)

    return read


def _nullable(serializer: Serializer) -> Form:
    form, padding = form_of(serializer.nested[0]), serializer.detail
    if not isinstance(padding, int) or padding < 0:
        raise Unreadable(_refusal(serializer))
    # with padding, every value has the length of the longest, and the serializer within is one of a fixed length
    length = 1 + padding if padding else -1
    return Form(_nullable_reader(form.read, 1, padding), length, form.hashable)


def _tuple(serializer: Serializer) -> Form:
    forms = list(map(form_of, serializer.nested))
    readers = [form.read for form in forms]
    lengths = [form.length for form in forms]
    length = -1 if any(length < 0 for length in lengths) else sum(lengths)
    hashable = all(form.hashable for form in forms)
    if len(readers) == 2:
        first, second = readers

        def read_two(data: bytes, at: int) -> tuple[tuple[Any, ...], int]:
            one, at = first(data, at)
            two, at = second(data, at)
            return (one, two), at

        return Form(read_two, length, hashable)

    def read(data: bytes, at: int) -> tuple[tuple[Any, ...], int]:
        values: list[Any] = []
        for read_field in readers:
            value, at = read_field(data, at)
            values.append(value)
        return tuple(values), at

    return Form(read, length, hashable)


def _row(serializer: Serializer) -> Form:
    """A mask with two bits for the kind, if the version has kinds, and one for each field that is null."""
    readers = [form_of(nested).read for nested in serializer.nested]
    return Form(row_reader(readers, None, has_kinds=bool(serializer.detail)))


_IS_NULL, _SAME_CLASS, _SUBCLASS, _TAGGED_SUBCLASS = 1, 2, 4, 8


def _pojo(serializer: Serializer) -> Form:
    """Flags, then the fields, each after a boolean that says whether it is null; or a subclass and what its own
    serializer writes."""
    names = serializer.names
    readers = [_nullable_reader(form_of(nested).read, null=1) for nested in serializer.nested]
    fields = list(zip(names, readers, strict=True))
    registered = [_subclass(name, nested) for name, tagged, nested in serializer.subclasses if tagged]
    others = {name: _subclass(name, nested) for name, tagged, nested in serializer.subclasses if not tagged}
    declared = plain(serializer.named)

    def read(data: bytes, at: int) -> tuple[Pojo | None, int]:
        flags = data[at]
        at += 1
        if flags == _SAME_CLASS:
            values: dict[str, Any] = {}
            for name, read_field in fields:
                values[name], at = read_field(data, at)
            return Pojo(values), at
        if flags & _IS_NULL:
            return None, at
        if flags & _SUBCLASS:
            start = at + 2
            at = start + (data[at] << 8 | data[at + 1])
            if at > len(data):
                raise IndexError
            name = data[start:at].decode("utf-8", "replace")
            if name not in others:
                raise ValueError(
                    f"it has a {plain(name)}, a subclass of {declared} whose fields the savepoint does not record: "
                    "register the class in the program that writes the savepoint"
                )
            return others[name](data, at)
        if flags & _TAGGED_SUBCLASS:
            tag = data[at]
            if tag >= len(registered):
                raise ValueError(f"it has subclass {tag} of {declared}, and {len(registered)} are registered")
            return registered[tag](data, at + 1)
        raise ValueError(f"the flags of a {declared} are {flags}")

    return Form(read)


def _subclass(name: str, serializer: Serializer) -> Reader:
    """The reader of a subclass; one that cannot be read is refused where a value is met."""
    try:
        read_value = form_of(serializer).read
    except Unreadable as error:
        problem = f"it has a {plain(name)}, which is written by {error}"

        def refuse(data: bytes, at: int) -> tuple[Any, int]:
            raise ValueError(problem)

        return refuse

    def read(data: bytes, at: int) -> tuple[Any, int]:
        value, at = read_value(data, at)
        return Pojo(value.fields, name) if isinstance(value, Pojo) else value, at

    return read


def _enum(serializer: Serializer) -> Form:
    constants = serializer.names

    def read(data: bytes, at: int) -> tuple[str, int]:
        number: int = _INT(data, at)[0]
        if not 0 <= number < len(constants):
            raise ValueError(f"constant {number} of {plain(serializer.named)}, which has {len(constants)}")
        return constants[number], at + 4

    return Form(read, 4, hashable=True)


def _either(serializer: Serializer) -> Form:
    left, right = (form_of(nested).read for nested in serializer.nested)

    def read(data: bytes, at: int) -> tuple[Either, int]:
        side, read_side = ("left", left) if data[at] else ("right", right)
        value, at = read_side(data, at + 1)
        return Either(side, value), at

    return Form(read)


def _union(serializer: Serializer) -> Form:
    """The records of a co-group or join, which come from one of two inputs."""
    first, second = (form_of(nested).read for nested in serializer.nested)

    def read(data: bytes, at: int) -> tuple[Either, int]:
        side, read_side = ("first", first) if data[at] == 1 else ("second", second)
        value, at = read_side(data, at + 1)
        return Either(side, value), at

    return Form(read)


def _joined(serializer: Serializer) -> Form:
    read_element = form_of(serializer.nested[0]).read

    def read(data: bytes, at: int) -> tuple[JoinedElement, int]:
        joined = data[at] != 0
        value, at = read_element(data, at + 1)
        return JoinedElement(value, joined), at

    return Form(read)


def _ttl(serializer: Serializer) -> Form:
    time, value = map(form_of, serializer.nested)
    read_time, read_value = time.read, value.read

    def read(data: bytes, at: int) -> tuple[Ttl, int]:
        last_access, at = read_time(data, at)
        item, at = read_value(data, at)
        return Ttl(last_access, item), at

    return Form(read)


def _stream_element(serializer: Serializer) -> Form:
    """A record with or without a timestamp, or a watermark; no operator puts aside what else flows in a stream."""
    read_value = form_of(serializer.nested[0]).read

    def read(data: bytes, at: int) -> tuple[StreamRecord | Watermark, int]:
        tag = data[at]
        at += 1
        timestamp = None
        if tag in (0, 2):
            (timestamp,) = _LONG(data, at)
            at += 8
            if tag == 2:
                return Watermark(timestamp), at
        elif tag != 1:
            raise ValueError(f"an element of a stream has the tag {tag}")
        value, at = read_value(data, at)
        return StreamRecord(timestamp, value), at

    return Form(read)


def _avro(serializer: Serializer) -> Form:
    try:
        return Form(avro_reader(str(serializer.detail)))
    except ValueError as error:
        raise Unreadable(f"{_refusal(serializer)}, whose schema is not one of Avro ({error})") from error


_CASES: dict[str, tuple[Callable[[Serializer], Form], int | None]] = {
    f"{BASE}ListSerializer": (_list, 1),
    "org.apache.flink.runtime.state.ArrayListSerializer": (_list, 1),
    f"{BASE}SetSerializer": (_set, 1),
    f"{BASE}MapSerializer": (_map, 2),
    f"{BASE}GenericArraySerializer": (_array, 1),
    f"{BASE}EnumSerializer": (_enum, 0),
    f"{JAVA}TupleSerializer": (_tuple, None),
    f"{JAVA}RowSerializer": (_row, None),
    f"{JAVA}PojoSerializer": (_pojo, None),
    f"{JAVA}NullableSerializer": (_nullable, 1),
    f"{JAVA}EitherSerializer": (_either, 2),
    f"{JAVA}JavaEitherSerializer": (_either, 2),
    "org.apache.flink.streaming.api.datastream.CoGroupedStreams$UnionSerializer": (_union, 2),
    "org.apache.flink.streaming.api.operators.co.IntervalJoinOperator$BufferEntrySerializer": (_joined, 1),
    "org.apache.flink.runtime.state.ttl.TtlStateFactory$TtlSerializer": (_ttl, 2),
    "org.apache.flink.streaming.runtime.streamrecord.StreamElementSerializer": (_stream_element, 1),
    "org.apache.flink.formats.avro.typeutils.AvroSerializer": (_avro, None),
}
"""The cases, with the number of serializers that they have parts of; None if it differs."""
