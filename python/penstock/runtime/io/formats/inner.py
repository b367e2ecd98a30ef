"""What types of columns have inside."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.common.column_types import ArrayType, DataType, MapType, RowType, TimestampType


def types_in(row_type: RowType) -> Iterator[DataType]:
    """A type and all types inside it."""
    waiting: list[DataType] = [row_type]
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, RowType):
            waiting += each.types
        elif isinstance(each, ArrayType):
            waiting.append(each.element_type)
        elif isinstance(each, MapType):
            waiting += [each.key_type, each.value_type]


def finest(row_type: RowType) -> int:
    """The most digits of a fraction of a second that any timestamp in a row has; 0 without timestamps."""
    return max((each.precision for each in types_in(row_type) if isinstance(each, TimestampType)), default=0)
