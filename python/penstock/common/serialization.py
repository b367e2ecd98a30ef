"""How records become bytes, and bytes records, under PyFlink's names (``pyflink.common.serialization``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any, Generic, TypeVar

from penstock.common import checks
from penstock.common.java.java_types import JavaSchema
from penstock.common.typeinfo import TypeInformation, Types
from penstock.errors import SerializationError, UnsupportedError

__all__ = [
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringEncoder",
    "SimpleStringSchema",
    "TypeSerializer",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class Encoder(ABC, Generic[T_contra]):
    """How a ``FileSink`` writes a record. One of your own defines :meth:`encode` (Flink: ``Encoder``)."""

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder[Any]:
        """Writes the text of each record as a line.

        Raises:
            InvalidProgramError: Python does not know the charset.
            UnsupportedError: its line end is not the byte 10.
        """
        return SimpleStringEncoder(charset_name)

    @abstractmethod
    def encode(self, element: T_contra, stream: IO[bytes], /) -> None:
        """Write a record to a stream, which is part of a file that others open and close."""


@dataclass(frozen=True)
class SimpleStringEncoder(Encoder[Any]):
    """Writes each record's text as a line (Flink: ``SimpleStringEncoder``); ``?`` is what the charset lacks."""

    charset_name: str = "UTF-8"  # encoding of the text
    text: Callable[[Any], str] = str  # makes the text of a record; a sink puts in the one of its records' declared type

    def __post_init__(self) -> None:
        checks.charset(self.charset_name, "simple_string_encoder")
        if "\n".encode(self.charset_name) != b"\n":
            raise UnsupportedError(
                f"simple_string_encoder({self.charset_name!r}): between lines Flink writes the byte 10, which does "
                "not end a line in this charset, so nobody could read the files. Use 'UTF-8'."
            )

    def encode(self, element: Any, stream: IO[bytes], /) -> None:
        """Write the record's line."""
        stream.write(f"{self.text(element)}\n".encode(self.charset_name, "replace"))


class SerializationSchema(ABC, Generic[T_contra]):
    """How a record becomes a message (Flink: ``SerializationSchema``)."""

    @abstractmethod
    def serialize(self, element: T_contra, /) -> bytes:
        """The bytes of a record."""

    @property
    def _j_serialization_schema(self) -> JavaSchema:
        """The schema's object in Java (PyFlink)."""
        return JavaSchema(self)


class DeserializationSchema(ABC, Generic[T_co]):
    """How a message becomes a record (Flink: ``DeserializationSchema``)."""

    @abstractmethod
    def deserialize(self, message: bytes, /) -> T_co:
        """The record of some bytes."""

    @abstractmethod
    def get_produced_type(self) -> TypeInformation[Any]:
        """The type of the records."""

    @property
    def _j_deserialization_schema(self) -> JavaSchema:
        """The schema's object in Java (PyFlink)."""
        return JavaSchema(self)


class TypeSerializer(ABC, Generic[T]):
    """A writer and reader of values as bytes (``pyflink.common.serializer``)."""

    @abstractmethod
    def serialize(self, element: T, stream: BytesIO, /) -> None:
        """Write a value."""

    @abstractmethod
    def deserialize(self, stream: BytesIO, /) -> T:
        """Read a value."""


class SimpleStringSchema(SerializationSchema[str], DeserializationSchema[str]):
    """Texts as their bytes in a charset (Flink: ``SimpleStringSchema``). Bytes that are not text become U+FFFD, and
    characters that the charset does not have become ``?``, as in Java. InvalidProgramError if Python does not know it.
    """

    def __init__(self, charset: str = "UTF-8") -> None:
        self.charset: str = checks.charset(charset, "SimpleStringSchema")

    def __repr__(self) -> str:
        return f"SimpleStringSchema({self.charset!r})"

    def serialize(self, element: str, /) -> bytes:
        """The text's bytes."""
        return element.encode(self.charset, "replace")

    def deserialize(self, message: bytes, /) -> str:
        """The text of the bytes."""
        return message.decode(self.charset, "replace")

    def get_produced_type(self) -> TypeInformation[Any]:
        """``Types.STRING()``."""
        return Types.STRING()


class ByteArraySchema(SerializationSchema[bytes], DeserializationSchema[bytes]):
    """Bytes as they are (Flink: ``ByteArraySchema``)."""

    def __repr__(self) -> str:
        return "ByteArraySchema()"

    def serialize(self, element: bytes, /) -> bytes:
        """The record; SerializationError if it is not bytes."""
        return _bytes("ByteArraySchema", "the record", element)

    def deserialize(self, message: bytes, /) -> bytes:
        """The message."""
        return message

    def get_produced_type(self) -> TypeInformation[Any]:
        """``Types.PRIMITIVE_ARRAY(Types.BYTE())``."""
        return Types.PRIMITIVE_ARRAY(Types.BYTE())


class RowFieldExtractorSchema(SerializationSchema[Any]):
    """A field of a row that holds bytes, by position (Flink: ``RowFieldExtractorSchema``), such as the key of a
    message."""

    def __init__(self, field_index: int) -> None:
        self.field_index: int = checks.at_least(0, field_index, "RowFieldExtractorSchema", "field_index")

    def __repr__(self) -> str:
        return f"RowFieldExtractorSchema({self.field_index})"

    def serialize(self, element: Any, /) -> bytes:
        """The bytes of the field, none of None; SerializationError if it is missing or does not hold bytes."""
        try:
            value = None if element is None else element[self.field_index]
        except (IndexError, TypeError, KeyError) as error:
            raise SerializationError(
                f"RowFieldExtractorSchema: {checks.shown(element)} has no field {self.field_index}. Give the index of "
                "a field of the rows, from 0.",
                flink_class=checks.ILLEGAL_ARGUMENT,
            ) from error
        return b"" if value is None else _bytes("RowFieldExtractorSchema", f"the field {self.field_index}", value)


def _bytes(schema: str, what: str, value: Any) -> bytes:
    if not isinstance(value, bytes | bytearray):
        raise SerializationError(
            f"{schema}: {what} is {checks.shown(value)}, and bytes are needed. Make bytes of it in a map() before, by "
            "value.encode() if it is a text.",
            flink_class=checks.ILLEGAL_ARGUMENT,
        )
    return bytes(value)
