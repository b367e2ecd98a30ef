"""What was read of a savepoint, as rows and in the forms of other tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

from penstock.common.row import Row, names_of
from penstock.common.typeinfo import MapTypeInfo, TypeInformation, Types
from penstock.errors import SavepointError, TypeInfoError
from penstock.runtime.io.arrow_rows import arrow_type, writer
from penstock.runtime.io.spark_types import schema_of
from penstock.runtime.windows.time_window import CountWindow, TimeWindow


@dataclass(frozen=True)
class StateTable:
    """Rows of a savepoint.

    Attributes:
        columns: their names.
        types: of the columns, as declared; None where nothing was.
        rows: a tuple for each, with the objects as the program has them.
    """

    columns: tuple[str, ...]
    types: tuple[TypeInformation[Any] | None, ...]
    rows: Sequence[tuple[Any, ...]]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def to_list(self) -> list[dict[str, Any]]:
        """A dictionary for each row. O(rows)."""
        return list(self)

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table``. Rows, tuples, named tuples and dataclasses are structs; lists and maps are Arrow's, by
        the declared types where there are such, else by what is there. O(rows).

        Raises:
            SavepointError: a column has values that Arrow has no common type for.
        """
        import pyarrow as pa

        made = [self._array(index) for index in range(len(self.columns))]
        return pa.table(dict(zip(self.columns, made, strict=True)))

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``, by way of Arrow. Raises as :meth:`to_arrow`."""
        return self.to_arrow().to_pandas()

    def to_spark(self, spark: Any) -> Any:
        """A DataFrame of a Spark session, by way of Arrow; Spark 4. Raises as :meth:`to_arrow`.

        Args:
            spark: the session.
        """
        return spark.createDataFrame(self.to_arrow())

    def _array(self, index: int) -> Any:
        import pyarrow as pa

        name, declared = self.columns[index], self.types[index]
        values = [row[index] for row in self.rows]
        schema = None if declared is None else schema_of(Types.ROW_NAMED([name], [declared]))
        if schema is not None:
            [column] = schema["fields"]
            convert = writer(column["type"])
            try:
                converted = [None if each is None else convert(each) for each in values]
                return pa.array(converted, arrow_type(column["type"]))
            except (pa.ArrowException, OverflowError, TypeError, ValueError, TypeInfoError):
                pass  # they are not what was declared: nothing has checked that
        try:
            if isinstance(declared, MapTypeInfo) and all(isinstance(each, dict) for each in values):
                return _maps(values)
            return pa.array(list(map(plain, values)))
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise SavepointError(
                f"The column {name!r} cannot be one of Arrow: {error}. Take the rows as they are: table.rows, "
                "table.to_list(), or --format json."
            ) from error


def _maps(values: Sequence[Mapping[Any, Any]]) -> Any:
    import pyarrow as pa

    offsets = [0]
    for each in values:
        offsets.append(offsets[-1] + len(each))
    keys = pa.array([plain(key) for each in values for key in each])
    items = pa.array([plain(item) for each in values for item in each.values()])
    return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), keys, items)


def plain(value: Any) -> Any:
    """A value made of what Arrow and JSON know: rows, tuples and objects with fields are dictionaries."""
    if value is None or type(value) in (bool, int, float, str, bytes):
        return value
    if isinstance(value, TimeWindow | CountWindow):
        return dict(zip(value._fields, value, strict=True))
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Row):
        names = names_of(value) or [f"f{index}" for index in range(len(value))]
        return {name: plain(each) for name, each in zip(names, value, strict=True)}
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None) or [f"f{index}" for index in range(len(value))]
        return {name: plain(each) for name, each in zip(names, value, strict=True)}
    if isinstance(value, dict):
        return {key if isinstance(key, str) else repr(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | set | frozenset):
        return [plain(each) for each in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    return value
