"""The rows that were read from a savepoint, and their conversion to other tools' tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from itertools import islice
from typing import Any

from penstock.common.callables import shortened
from penstock.common.column_types import data_type_of
from penstock.common.row import Row, names_of
from penstock.common.typeinfo import MapTypeInfo, TypeInformation
from penstock.errors import SavepointError, UnsupportedError


class ReadRows(Collection[tuple[Any, ...]]):
    """Rows that are read each time that they are gone through."""

    def __init__(self) -> None:
        self._count: int | None = None

    @abstractmethod
    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...

    def __len__(self) -> int:
        if self._count is None:
            self._count = sum(1 for _ in self)
        return self._count

    def __contains__(self, row: object) -> bool:
        return any(row == other for other in self)


@dataclass(frozen=True)
class StateTable:
    """Rows of a savepoint.

    Attributes:
        types: the declared types of the columns; None where no type was declared.
        rows: a tuple per row, with the program's own objects. Those of a savepoint of Flink are read from its files
            each time that they are gone through.
        typed: whether each value is of its column's type, and is refused if it does not fit; else a column with such
            a value gets the type that its values have.
    """

    columns: tuple[str, ...]
    types: tuple[TypeInformation[Any] | None, ...]
    rows: Collection[tuple[Any, ...]]
    typed: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def to_list(self) -> list[dict[str, Any]]:
        """A dictionary per row. O(rows)."""
        return list(iter(self))  # not of itself: that would count the rows first, and so read them twice

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table``. Rows, tuples, named tuples and dataclasses become structs; lists and maps become
        Arrow's, by declared type or by their values. Raises SavepointError: Arrow has no common type for a column."""
        import pyarrow as pa

        return pa.concat_tables(self.to_batches())

    def to_batches(self, size: int = 10_000) -> Iterator[Any]:
        """Tables of pyarrow, one after the other, with one schema; at least one. If the table is ``typed``, they have
        ``size`` rows, and no more are in memory; else there is one. Raises as :meth:`to_arrow`."""
        if not self.typed:
            yield self._arrow(list(iter(self.rows)))
            return
        rows = iter(self.rows)
        part = list(islice(rows, size))
        yield self._arrow(part)
        while part := list(islice(rows, size)):
            yield self._arrow(part)

    def _arrow(self, rows: Sequence[tuple[Any, ...]]) -> Any:
        import pyarrow as pa

        arrays = [self._array(index, [row[index] for row in rows]) for index in range(len(self.columns))]
        return pa.table(dict(zip(self.columns, arrays, strict=True)))

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``, through Arrow. Raises as :meth:`to_arrow`."""
        return self.to_arrow().to_pandas()

    def to_spark(self, spark: Any) -> Any:
        """A DataFrame of a session, through Arrow. Raises as :meth:`to_arrow`."""
        from penstock.spark.inside_pyspark import frame_of

        return frame_of(spark, self.to_arrow())

    def _array(self, index: int, values: list[Any]) -> Any:
        import pyarrow as pa

        from penstock.runtime.columns.arrow import SPARK, arrow_type, column_of
        from penstock.runtime.columns.parts import Unfit

        name, declared = self.columns[index], self.types[index]
        if declared is not None:
            try:
                column = data_type_of(declared)
                return column_of(values, column, arrow_type(column, SPARK), SPARK)
            except (UnsupportedError, Unfit) as error:  # nothing has checked that the values are as declared
                if self.typed:
                    why = f"{shortened(error.value)}: {error.why}" if isinstance(error, Unfit) else str(error)
                    raise SavepointError(
                        f"The column {name!r} cannot be converted to Arrow: {declared!r} does not take "
                        f"{why}. Use the rows unchanged: table.rows, table.to_list(), or --format json."
                    ) from error
        try:
            if isinstance(declared, MapTypeInfo) and all(isinstance(value, dict) for value in values):
                return _maps(values)
            return pa.array(list(map(plain, values)))
        except (pa.ArrowException, OverflowError, RecursionError, TypeError, ValueError) as error:
            raise SavepointError(
                f"The column {name!r} cannot be converted to Arrow: {error}. Use the rows unchanged: table.rows, "
                "table.to_list(), or --format json."
            ) from error


def _maps(values: Sequence[Mapping[Any, Any]]) -> Any:
    import pyarrow as pa

    offsets = [0]
    for value in values:
        offsets.append(offsets[-1] + len(value))
    keys = pa.array([plain(key) for value in values for key in value])
    items = pa.array([plain(item) for value in values for item in value.values()])
    return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), keys, items)


def plain(value: Any) -> Any:
    """A value made of types that Arrow and JSON know: rows, tuples and objects with fields become dictionaries."""
    if value is None or type(value) in (bool, int, float, str, bytes):
        return value
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Row | tuple):
        own_names = names_of(value) if isinstance(value, Row) else getattr(value, "_fields", None)
        names = own_names or [f"f{index}" for index in range(len(value))]
        return {name: plain(item) for name, item in zip(names, value, strict=True)}
    if isinstance(value, dict):
        return {key if isinstance(key, str) else repr(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | set | frozenset):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return value
