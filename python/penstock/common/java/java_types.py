"""Stand-ins for Flink's Java objects of types, tags, schemas and kinds of rows: they answer Java's questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.common.java.java_objects import JavaClass, JavaObject

__all__ = ["JavaOutputTag", "JavaRowKind", "JavaSchema", "JavaTypeInformation"]

BASICS = "org.apache.flink.api.common.typeinfo."
OTHERS = "org.apache.flink.api.java.typeutils."
PYTHONS = "org.apache.flink.streaming.api.typeinfo.python."
"""Flink's packages of types."""

_BASIC = ("BasicTypeInfo", "IntegerTypeInfo", "FractionalTypeInfo")


@dataclass(frozen=True, repr=False)
class JavaTypeInformation(JavaObject):
    """A type by Java's methods. Two are equal if their texts and classes are."""

    text: str
    java_class: str = field()
    record_class: str = field(compare=False)
    fields: Sequence[JavaTypeInformation] = field(default=(), compare=False)
    names: Sequence[str] | None = field(default=None, compare=False)
    arity: int = field(default=1, compare=False)

    def isBasicType(self) -> bool:
        return self.getClass().getSimpleName() in _BASIC

    def isTupleType(self) -> bool:
        return self.names is not None

    def getArity(self) -> int:
        return self.arity if self.names is None else len(self.fields)

    def getTotalFields(self) -> int:
        return 1 if self.names is None else sum(field.getTotalFields() for field in self.fields)

    def getFieldNames(self) -> list[str]:
        return self.__getattr__("getFieldNames") if self.names is None else list(self.names)

    def getFieldTypes(self) -> list[JavaTypeInformation]:
        return list(self.fields)

    def getTypeAt(self, position: int) -> JavaTypeInformation:
        return self.fields[position]

    def getTypeClass(self) -> JavaClass:
        return JavaClass(self.record_class)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class JavaOutputTag(JavaObject):
    """A tag of a side output by Java's methods."""

    java_class = "org.apache.flink.util.OutputTag"

    tag_id: str
    type_info: JavaTypeInformation = field(compare=False)

    def getId(self) -> str:
        return self.tag_id

    def getTypeInfo(self) -> JavaTypeInformation:
        return self.type_info

    def __str__(self) -> str:
        return f"OutputTag({self.type_info}, {self.tag_id})"


class JavaSchema(JavaObject):
    """A schema by Java's methods. Two are equal if they are of one class and were given the same."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self.java_class = type(schema).__name__

    def open(self, context: object) -> None:
        """Nothing is to be opened."""

    def serialize(self, element: Any) -> bytes:
        return self._schema.serialize(element)

    def deserialize(self, message: bytes) -> Any:
        return self._schema.deserialize(message)

    def getProducedType(self) -> JavaTypeInformation:
        return self._schema.get_produced_type().get_java_type_info()

    def getFieldIndex(self) -> int:
        return self._schema.field_index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JavaSchema) and repr(self._schema) == repr(other._schema)

    def __hash__(self) -> int:
        return hash(repr(self._schema))


@dataclass(frozen=True, repr=False)
class JavaRowKind(JavaObject):
    """A kind of a change by Java's methods."""

    java_class = "org.apache.flink.types.RowKind"

    _name: str
    _sign: str
    _number: int

    def name(self) -> str:
        return self._name

    def shortString(self) -> str:
        return self._sign

    def ordinal(self) -> int:
        return self._number

    toByteValue = ordinal

    def __str__(self) -> str:
        return self._name
