"""Stand-ins for Flink's Java objects of types, tags, schemas and kinds of rows: they answer Java's questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.common.java.java_objects import JavaClass, JavaObject

__all__ = ["JavaOutputTag", "JavaRowKind", "JavaSchema", "JavaTypeInformation"]

BASICS = "org.apache.flink.api.common.typeinfo."
OTHERS = "org.apache.flink.api.java.typeutils."
PYTHONS = "org.apache.flink.streaming.api.typeinfo.python."
"""Flink's packages of types."""

_BASIC = ("BasicTypeInfo", "IntegerTypeInfo", "FractionalTypeInfo")


class JavaTypeInformation(JavaObject):
    """A type by Java's methods. Two are equal if their texts and classes are."""

    def __init__(
        self,
        text: str,
        java_class: str,
        record_class: str,
        fields: Sequence[JavaTypeInformation] = (),
        names: Sequence[str] | None = None,
        arity: int = 1,
    ) -> None:
        self.java_class = java_class
        self._text, self._record_class, self._arity = text, record_class, arity
        self._fields, self._names = fields, names

    def isBasicType(self) -> bool:
        """Whether it is a number, a text or the like."""
        return self.getClass().getSimpleName() in _BASIC

    def isTupleType(self) -> bool:
        """Whether its fields can be named by number: a tuple, or a row."""
        return self._names is not None

    def getArity(self) -> int:
        """How many fields it has; 1 of what has none, and 0 of a list or a map."""
        return self._arity if self._names is None else len(self._fields)

    def getTotalFields(self) -> int:
        """How many fields it has, those of fields included."""
        return 1 if self._names is None else sum(field.getTotalFields() for field in self._fields)

    def getFieldNames(self) -> list[str]:
        """The names of the fields of a tuple or a row."""
        return self.__getattr__("getFieldNames") if self._names is None else list(self._names)

    def getFieldTypes(self) -> list[JavaTypeInformation]:
        """The types of the fields of a row."""
        return list(self._fields)

    def getTypeAt(self, position: int) -> JavaTypeInformation:
        """The type of a field, counted from 0."""
        return self._fields[position]

    def getTypeClass(self) -> JavaClass:
        """The class of the records in Java."""
        return JavaClass(self._record_class)

    def _key(self) -> tuple[str, str]:
        return (self._text, self.java_class)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JavaTypeInformation) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return self._text


class JavaOutputTag(JavaObject):
    """A tag of a side output by Java's methods."""

    java_class = "org.apache.flink.util.OutputTag"

    def __init__(self, tag_id: str, type_info: JavaTypeInformation) -> None:
        self._id, self._type = tag_id, type_info

    def getId(self) -> str:
        """Its name."""
        return self._id

    def getTypeInfo(self) -> JavaTypeInformation:
        """The type of its records."""
        return self._type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JavaOutputTag) and self._id == other.getId()

    def __hash__(self) -> int:
        return hash(self._id)

    def __str__(self) -> str:
        return f"OutputTag({self._type}, {self._id})"


class JavaSchema(JavaObject):
    """A schema by Java's methods. Two are equal if they are of one class and were given the same."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self.java_class = type(schema).__name__

    def open(self, context: object) -> None:
        """Nothing is to be opened."""

    def serialize(self, element: Any) -> bytes:
        """The bytes of a record."""
        return self._schema.serialize(element)

    def deserialize(self, message: bytes) -> Any:
        """The record of some bytes."""
        return self._schema.deserialize(message)

    def getProducedType(self) -> JavaTypeInformation:
        """The type of the records."""
        return self._schema.get_produced_type().get_java_type_info()

    def getFieldIndex(self) -> int:
        """Which field of a row it takes."""
        return self._schema.field_index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JavaSchema) and repr(self._schema) == repr(other._schema)

    def __hash__(self) -> int:
        return hash(repr(self._schema))


class JavaRowKind(JavaObject):
    """A kind of a change by Java's methods."""

    java_class = "org.apache.flink.types.RowKind"

    def __init__(self, name: str, sign: str, number: int) -> None:
        self._name, self._sign, self._number = name, sign, number

    def name(self) -> str:
        """Its name."""
        return self._name

    def shortString(self) -> str:
        """Its sign."""
        return self._sign

    def ordinal(self) -> int:
        """Its number."""
        return self._number

    toByteValue = ordinal

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JavaRowKind) and self._name == other.name()

    def __hash__(self) -> int:
        return hash(self._name)

    def __str__(self) -> str:
        return self._name
