"""JSON lines: an object on each line. Flink's DataStream API has no format for them; these are ours. How they are read
and written is in :mod:`penstock.runtime.io.formats.json_lines`."""

from __future__ import annotations

from penstock.common.column_types import RowType, row_type_of
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo
from penstock.runtime.io.formats.json_lines import JsonEncoder, JsonLines

__all__ = ["JsonLinesEncoder", "JsonReaderFormat"]


class JsonReaderFormat(JsonLines):
    """Rows of JSON lines, for ``FileSource.for_record_stream_format``. Made by :meth:`for_row_type`."""

    @staticmethod
    def for_row_type(row_type: RowType | RowTypeInfo | TupleTypeInfo) -> JsonReaderFormat:
        """Objects as rows. Fields that an object has not are None, if their type is nullable; others that it has are
        left out. Days, times and bytes (in Base64) are texts in JSON.

        Args:
            row_type: ``DataTypes.ROW([…])``, or a type of rows or tuples.

        Raises:
            TypeInfoError: no type of rows.
            UnsupportedError: a type that JSON has no values of.
        """
        return JsonReaderFormat(row_type_of(row_type, "JsonReaderFormat.for_row_type"))


class JsonLinesEncoder(JsonEncoder):
    """Writes rows as JSON lines, for ``FileSink.for_row_format``. Made by :meth:`for_row_type`."""

    @staticmethod
    def for_row_type(row_type: RowType | RowTypeInfo | TupleTypeInfo) -> JsonLinesEncoder:
        """Rows as objects. Records are rows, tuples, lists or dicts; rows and dicts are written by the names of their
        fields if these are the type's.

        Args:
            row_type: ``DataTypes.ROW([…])``, or a type of rows or tuples.

        Raises:
            TypeInfoError: no type of rows.
            UnsupportedError: a type that JSON has no values of.
        """
        return JsonLinesEncoder(row_type_of(row_type, "JsonLinesEncoder.for_row_type"))
