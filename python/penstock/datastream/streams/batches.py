"""Functions of batches of records: map_batches, filter_batches, flat_map_batches. The names of the arguments are those
of PyFlink's DataFrame (FLINK-40433); its streams do not have these methods yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from penstock.common import checks
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.program import batch_functions
from penstock.datastream.program.transformations import Transformation
from penstock.runtime.operators.batches import StreamFilterBatches, StreamFlatMapBatches, StreamMapBatches

if TYPE_CHECKING:
    from penstock.datastream.functions import FilterFunction, FlatMapFunction, MapFunction
    from penstock.datastream.streams.data_stream import SingleOutputStreamOperator

T = TypeVar("T", covariant=True)
U = TypeVar("U")
B = TypeVar("B")  # a batch
BatchFormat = Literal["arrow", "pandas", "polars", "numpy"]


class BatchFunctions(Generic[T]):
    """The operators whose function takes the columns of many records at once.

    The form of a batch is the annotation of the function's argument: ``pa.RecordBatch``, ``pa.Array``,
    ``pandas.DataFrame``, ``pandas.Series``, ``polars.DataFrame``, ``polars.Series``, ``numpy.ndarray``, or a dict from
    names to columns. ``batch_format`` says it where there is none; without either it is Arrow: a RecordBatch of records
    with fields, an Array of plain values. ``batch_size`` is the most records of a batch, by default that of the setting
    ``penstock.batches.size``. A batch does not reach over a watermark, a checkpoint, or the end of the input.
    """

    __slots__ = ()

    transformation: Transformation

    def _transform(self, name: str, operator: Any, output_type: Any) -> SingleOutputStreamOperator[Any]:
        raise NotImplementedError

    def map_batches(
        self,
        func: MapFunction[B, object] | Callable[[B], object],
        output_type: TypeInformation[U],
        *,
        batch_format: BatchFormat | None = None,
        batch_size: int | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """One record out for each record in, by a function of the columns of many.

        Args:
            func: takes a batch, and returns as many rows, in their order: a batch or columns of any of the libraries.
                Each gets the timestamp of its record.
            output_type: the type of the results; columns are cast to it where no value changes.
            batch_format: ``arrow``, ``pandas``, ``polars`` or ``numpy``, for a function without an annotation.
            batch_size: the most records of a batch.
        """
        form, size = self._batches("map_batches", "map", func, batch_format, batch_size)
        result = batch_functions.results_of(output_type, "map_batches")
        operator = StreamMapBatches(func, form, self._record_type, size, output_type=result)
        return self._transform("Map", operator, result)

    def flat_map_batches(
        self,
        func: FlatMapFunction[B, object] | Callable[[B], object],
        output_type: TypeInformation[U],
        *,
        batch_format: BatchFormat | None = None,
        batch_size: int | None = None,
    ) -> SingleOutputStreamOperator[U]:
        """Any number of records out for a batch, otherwise as :meth:`map_batches`. A generator function may yield
        several batches. All records out have the largest timestamp of the batch, as each may come from any of it."""
        form, size = self._batches("flat_map_batches", "flat_map", func, batch_format, batch_size)
        result = batch_functions.results_of(output_type, "flat_map_batches")
        operator = StreamFlatMapBatches(func, form, self._record_type, size, output_type=result)
        return self._transform("Flat Map", operator, result)

    def filter_batches(
        self,
        func: FilterFunction[B] | Callable[[B], object],
        *,
        batch_format: BatchFormat | None = None,
        batch_size: int | None = None,
    ) -> SingleOutputStreamOperator[T]:
        """Keep some of the records: ``func`` returns a column of truth values, one per record. Otherwise as
        :meth:`map_batches`. The records stay as they are."""
        form, size = self._batches("filter_batches", "filter", func, batch_format, batch_size)
        return self._transform("Filter", StreamFilterBatches(func, form, self._record_type, size), self._record_type)

    @property
    def _record_type(self) -> Any:
        return self.transformation.output_type

    def _batches(self, call: str, method: str, func: Any, batch_format: Any, batch_size: Any) -> Any:
        checks.function(func, call, method)
        form = batch_functions.form_of(func, call, method, batch_format, self._record_type)
        return form, batch_functions.size_of(batch_size, call)
