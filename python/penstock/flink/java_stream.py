"""Reads a Java serialization stream of plain objects, enums and strings, without creating any Java object.

Arrays, proxies, externalizable classes and exceptions are refused. Source of the grammar: Java's Object Serialization
Specification, chapter 6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.flink.cursor import Cursor

_CORRUPTED = "java.io.StreamCorruptedException"
_DEEPEST = 20
_INVALID = "java.io.InvalidClassException"
_NULL, _REFERENCE, _CLASS, _OBJECT, _STRING, _BLOCK = 0x70, 0x71, 0x72, 0x73, 0x74, 0x77
_END_BLOCK, _LONG_STRING, _ENUM = 0x78, 0x7C, 0x7E
_FIRST_HANDLE = 0x7E0000
_WRITES, _SERIALIZABLE, _EXTERNALIZABLE = 1, 2, 4


@dataclass
class JavaClass:
    """A class as described in a stream."""

    name: str
    flags: int = 0
    fields: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    parent: JavaClass | None = None


@dataclass
class JavaValue:
    """An object or enum constant."""

    java_class: str
    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    constant: str | None = None


class JavaStream:
    """A serialization stream."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._handles: list[Any] = []
        header = cursor.take(4, "the header of the checkpoint's properties")
        if header != b"\xac\xed\x00\x05":
            cursor.at -= 4
            message = f"invalid stream header: {header.hex().upper()}"
            cursor.fail("the checkpoint's properties are not a Java serialization stream", _CORRUPTED, message)

    def value(self, depth: int = 0) -> Any:
        """The next value: a string, None, or a :class:`JavaValue`."""
        cursor = self._cursor
        if depth > _DEEPEST:
            cursor.fail(f"objects are nested more than {_DEEPEST} deep", "java.lang.StackOverflowError")
        code = cursor.byte("a value of the properties")
        if code == _NULL:
            return None
        if code == _REFERENCE:
            return self._reference(object)
        if code == _STRING:
            text = cursor.utf("a text of the properties")
            self._handles.append(text)
            return text
        if code == _LONG_STRING:
            return self._unknown(code, "is a text of more than 65,535 bytes")
        if code == _ENUM:
            return self._enum(depth)
        if code == _OBJECT:
            return self._object(depth)
        return self._unknown(code, "is not one that the properties of a checkpoint have")

    def _unknown(self, code: int, problem: str) -> Any:
        self._cursor.at -= 1
        message = f"invalid type code: {code & 0xFF:02X}"
        self._cursor.fail(f"the kind of value {code & 0xFF:#04x} {problem}", _CORRUPTED, message)

    def _reference(self, wanted: type[Any]) -> Any:
        handle = self._cursor.int("a reference of the properties") - _FIRST_HANDLE
        if not 0 <= handle < len(self._handles):
            message = f"invalid handle value: {(handle + _FIRST_HANDLE) & 0xFFFFFFFF:08X}"
            self._cursor.fail("a reference of the properties leads nowhere", _CORRUPTED, message)
        target = self._handles[handle]
        if not isinstance(target, wanted):
            self._cursor.fail("a reference of the properties leads to something else", "java.lang.ClassCastException")
        return target

    def _class(self, depth: int) -> JavaClass | None:
        """A class and its superclasses, which a stream describes one after the other."""
        cursor = self._cursor
        first: JavaClass | None = None
        last: JavaClass | None = None
        for _ in range(depth, _DEEPEST + 1):
            code = cursor.byte("a class of the properties")
            if code == _CLASS:
                current: JavaClass | None = self._described()
            elif code in (_NULL, _REFERENCE):
                current = None if code == _NULL else self._reference(JavaClass)
            else:
                return self._unknown(code, "is found where a class should be described")
            if last is None:
                first = current
            else:
                last.parent = current
            if code != _CLASS:
                return first
            last = current
        return cursor.fail(f"classes are nested more than {_DEEPEST} deep", "java.lang.StackOverflowError")

    def _described(self) -> JavaClass:
        cursor = self._cursor
        java_class = JavaClass(cursor.utf("the name of a class of the properties"))
        cursor.long(f"the version of class {java_class.name}")
        self._handles.append(java_class)
        java_class.flags = cursor.byte(f"the flags of class {java_class.name}")
        for _ in range(cursor.short(f"the number of fields of class {java_class.name}")):
            kind = chr(cursor.byte(f"the kind of a field of class {java_class.name}") & 0xFF)
            name = cursor.utf(f"the name of a field of class {java_class.name}")
            if kind not in "BCDFIJSZL":
                cursor.fail(f"field {name} of class {java_class.name} has the kind {kind!r}", _INVALID)
            if kind == "L" and not isinstance(self.value(_DEEPEST), str):
                cursor.fail(f"field {name} of class {java_class.name} has no class", "java.lang.ClassCastException")
            java_class.fields.append((kind, name))
        code = cursor.byte(f"the end of class {java_class.name}")  # Flink's classes write nothing beside their fields
        if code != _END_BLOCK:
            self._unknown(code, f"is found where class {java_class.name} should end")
        return java_class

    def _begun(self, what: str, depth: int) -> tuple[JavaClass, JavaValue]:
        """The class of an object or enum, and its value, which references inside it may name."""
        described = self._class(depth)
        if described is None:
            self._cursor.fail(f"an {what} of the properties has no class", _INVALID)
        value = JavaValue(described.name)
        self._handles.append(value)
        return described, value

    def _object(self, depth: int) -> JavaValue:
        described, value = self._begun("object", depth)
        lineage: list[JavaClass] = []
        at: JavaClass | None = described
        while at is not None and len(lineage) <= _DEEPEST:
            lineage.append(at)
            at = at.parent
        for java_class in reversed(lineage):
            if not java_class.flags & _SERIALIZABLE or java_class.flags & (_EXTERNALIZABLE | _WRITES):
                self._cursor.fail(f"class {java_class.name} writes itself", _INVALID)
            for kind, name in java_class.fields:
                value.fields[name] = self._field(kind, name, depth)
        return value

    def _field(self, kind: str, name: str, depth: int) -> Any:
        cursor = self._cursor
        if kind == "L":
            return self.value(depth + 1)
        number = {"Z": cursor.bool, "I": cursor.int, "J": cursor.long}.get(kind)
        if number is not None:
            return number(f"field {name}")
        return cursor.take({"B": 1, "C": 2, "S": 2, "F": 4, "D": 8}[kind], f"field {name}")

    def _enum(self, depth: int) -> JavaValue:
        _, value = self._begun("enum", depth)
        constant = self.value(depth + 1)
        if not isinstance(constant, str):
            self._cursor.fail(f"a constant of {value.java_class} has no name", "java.lang.ClassCastException")
        value.constant = constant
        return value
