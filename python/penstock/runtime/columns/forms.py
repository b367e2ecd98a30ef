"""The forms in which a function takes a batch of records: the library, and a table, a column, or columns by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation

if TYPE_CHECKING:
    from penstock.common.column_types import DataType, RowType

Library = Literal["arrow", "pandas", "polars", "numpy"]
Shape = Literal["table", "column", "columns"]
LIBRARIES: tuple[Library, ...] = get_args(Library)
"""As ``batch_format`` names them."""
MODULES: dict[Library, str] = {"arrow": "pyarrow", "pandas": "pandas", "polars": "polars", "numpy": "numpy"}
"""Their modules."""
VALUE = "f0"
"""The name of the only column of records that are plain values."""


@dataclass(frozen=True)
class BatchForm:
    """A form of batches. A table has the fields of records as its columns; a column has a value for each record, which
    is a struct where records have fields; ``columns`` is a dict of columns by name."""

    library: Library
    shape: Shape

    def __str__(self) -> str:
        return _NAMES[self.library][("table", "column", "columns").index(self.shape)]


_NAMES: dict[Library, tuple[str, str, str]] = {
    "arrow": ("pa.RecordBatch", "pa.Array", "dict[str, pa.Array]"),
    "pandas": ("pandas.DataFrame", "pandas.Series", "dict[str, pandas.Series]"),
    "polars": ("polars.DataFrame", "polars.Series", "dict[str, polars.Series]"),
    "numpy": ("numpy.ndarray", "numpy.ndarray", "dict[str, numpy.ndarray]"),
}


def has_fields(type_info: TypeInformation[Any]) -> bool:
    """Whether records of a type have fields; others are plain values."""
    return isinstance(type_info, TupleTypeInfo | RowTypeInfo)


def table_type(type_info: TypeInformation[Any]) -> RowType:
    """The columns of records of a type; UnsupportedError if a column cannot hold them."""
    from penstock.common.column_types import RowField, RowType, data_type_of  # only programs with batches need it

    whole: DataType = data_type_of(type_info)
    return whole if isinstance(whole, RowType) and has_fields(type_info) else RowType((RowField(VALUE, whole),))
