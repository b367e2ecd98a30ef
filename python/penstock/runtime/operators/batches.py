"""Functions of batches: ``map``, ``filter`` and ``flat_map`` with a function that is called with the columns of many
records.

Records wait until there are as many as a batch has. A batch never reaches over a watermark, the end of a step, a round
of a loop, or the end of the input: what waits is worked off before. So nothing is kept over a checkpoint, and no record
becomes late by waiting. A record that may be changed by whoever made it is copied while it waits.

Where a chain is fused, records are handed to the operator many at a time, as to a sink. Those that come as columns wait
as columns, and the function gets these; either all that wait are columns or all are objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.common.typeinfo import TypeInformation
from penstock.runtime.buffers.codec import keeper
from penstock.runtime.chain.context import OperatorContext, RuntimeContext, StatelessContext
from penstock.runtime.chain.operator import Leaf, LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.chain.segments import Taker
from penstock.runtime.columns.forms import BatchForm
from penstock.runtime.usercode.functions import bind
from penstock.runtime.usercode.interpreter import STRIDE

if TYPE_CHECKING:
    from penstock.runtime.columns.batches import BatchArgument

Times = list["int | None"]


@dataclass(frozen=True, eq=False)
class ByBatch(StreamOperator):
    """Base of these. ``f`` is a callable, or an object with the operator's method, of a batch in a form; ``size`` the
    most records of one, None for the setting ``penstock.batches.size``."""

    f: Any
    form: BatchForm
    input_type: TypeInformation[Any]
    size: int | None = None

    @property
    def keeps_state(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class StreamMapBatches(ByBatch):
    """As many records out as in a batch: ``map_batches``."""

    output_type: TypeInformation[Any] = field(kw_only=True)

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _MapBatches(context, output, self)


@dataclass(frozen=True, eq=False)
class StreamFilterBatches(ByBatch):
    """Keeps the records whose value in a column of truth values is true: ``filter_batches``."""

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _FilterBatches(context, output, self)


@dataclass(frozen=True, eq=False)
class StreamFlatMapBatches(ByBatch):
    """Any number of records out of a batch: ``flat_map_batches``. Each has the largest timestamp of its batch."""

    output_type: TypeInformation[Any] = field(kw_only=True)

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _FlatMapBatches(context, output, self)


class _Batches(LiveOperator):
    method: ClassVar[str]
    emitted: int = 0

    def __init__(self, context: OperatorContext, output: CountingOutput, spec: ByBatch) -> None:
        super().__init__(context, output, spec.f)
        settings = context.job.settings
        self.room = spec.size or settings.batch_size
        self._keep = None if settings.object_reuse else keeper(spec.input_type)
        self._values: list[Any] = []
        self._times: Times = []
        self._batches: list[Any] = []  # native ones that wait, while no objects do
        self._count = 0  # their records
        self._argument = context.call(self._codec, spec)
        self._call = bind(self.function, self.method)

    def _codec(self, spec: ByBatch) -> BatchArgument:
        from penstock.runtime.columns.batches import BatchArgument  # pyarrow: `import penstock` does not load it

        return BatchArgument(spec.input_type, spec.form)

    def _function_context(self) -> RuntimeContext:
        return StatelessContext(
            self.context,
            f"The function of operator {self.context.config.name!r} takes batches and asked for keyed state. A batch "
            "has records of many keys, so there is no state of one. Keep the state in a process function behind it.",
        )

    def input(self, number: int) -> Collector:
        values, times, keep, size, fail = self._values, self._times, self._keep, self.room, self.context.fail

        def process(value: Any, timestamp: int | None) -> None:
            if self._batches:
                self._unpack()
            if keep is not None:
                try:
                    value = keep(value)
                except Exception as error:
                    raise fail(error) from error
            values.append(value)
            times.append(timestamp)
            if len(values) >= size:
                self._work()

        return process

    def fragment(self, number: int = 0) -> Leaf:
        return Leaf(self.input(0), self._take, self._keep is None, self)

    def _take(self, values: list[Any], timestamp: int | None) -> None:
        """Take records that cannot change."""
        if self._batches:
            self._unpack()
        self._values += values
        self._times += repeat(timestamp, len(values))
        while len(self._values) >= self.room:
            self._work()

    def columns(self, number: int) -> Taker:
        return Taker(self._take_columns, broad=self.room >= STRIDE)

    def _take_columns(self, batch: Any) -> None:
        self._batches.append(batch)
        self._count += len(batch)
        if self._values:
            self._unpack()
        while max(self._count, len(self._values)) >= self.room:
            self._work()

    def _unpack(self) -> None:
        """Make objects of the columns that wait."""
        batches, self._batches, self._count = self._batches, [], 0
        for batch in batches:
            self._values += batch.objects()
            self._times += batch.times or repeat(None, len(batch))

    def _work(self) -> None:
        """Work off the first records that wait, as many as a batch has."""
        if self._batches:
            first, *more = self._batches
            whole = type(first).concat(self._batches) if more else first
            if whole is not None:
                self._work_columns(whole)
                return
            self._unpack()  # they are of several types
        size = self.room
        values, times = self._values[:size], self._times[:size]
        del self._values[:size], self._times[:size]
        if not values:
            return
        call = self.context.call
        result = call(self._call, call(self._argument.of, values))
        self._emit(result, values, times)

    def _work_columns(self, waiting: Any) -> None:
        """The same where these wait."""
        size = min(self.room, len(waiting))
        batch, call = waiting.slice(0, size), self.context.call
        self._count = len(waiting) - size
        self._batches = [waiting.slice(size, len(waiting))] if self._count else []
        result = call(self._call, call(self._argument.of_columns, batch))
        self._emit(result, batch, batch.times)

    def _emit(self, result: Any, values: Sequence[Any], times: Times | None) -> None:
        """Hand on what a function returns for some records, without ``times`` if none has one."""
        raise NotImplementedError

    def _pass_on(self, values: list[Any], times: Times | None) -> None:
        if not values:
            return
        self.emitted += len(values)
        if times is None:
            self.output.feed(values, None)
        elif times.count(times[0]) == len(times):
            self.output.feed(values, times[0])
        else:
            self.output.timed_feed(values, times)

    def advance(self, watermark: int) -> None:
        self._work()
        super().advance(watermark)

    def end_round(self) -> None:
        self._work()

    def end_step(self) -> None:
        self._work()

    def end_input(self) -> None:
        self._work()


class _MapBatches(_Batches):
    method = "map"

    def __init__(self, context: OperatorContext, output: CountingOutput, spec: StreamMapBatches) -> None:
        super().__init__(context, output, spec)
        self._records = context.call(_results, spec)

    def _emit(self, result: Any, values: Sequence[Any], times: Times | None) -> None:
        self._pass_on(self.context.call(self._records, result, len(values)), times)


def _results(spec: StreamMapBatches | StreamFlatMapBatches) -> Callable[..., list[Any]]:
    from penstock.runtime.columns.batches import BatchResult

    return BatchResult(spec.output_type, str(spec.form)).records


class _FilterBatches(_Batches):
    method = "filter"

    def _emit(self, result: Any, values: Sequence[Any], times: Times | None) -> None:
        from penstock.runtime.columns.batches import kept

        keep = self.context.call(kept, result, len(values))
        self._pass_on(list(compress(values, keep)), times and list(compress(times, keep)))


class _FlatMapBatches(_Batches):
    method = "flat_map"

    def __init__(self, context: OperatorContext, output: CountingOutput, spec: StreamFlatMapBatches) -> None:
        super().__init__(context, output, spec)
        self._records = context.call(_results, spec)

    def _emit(self, result: Any, values: Sequence[Any], times: Times | None) -> None:
        timestamp = max((time for time in times or () if time is not None), default=None)
        for part in self._parts(result):
            records = self.context.call(self._records, part)
            self._pass_on(records, [timestamp])

    def _parts(self, result: Any) -> Iterator[Any]:
        """The batches that a function returns: one, or those of a generator."""
        if not isinstance(result, Iterator):
            yield result
            return
        while True:
            try:
                part = next(result)
            except StopIteration:
                return
            except Exception as error:
                raise self.context.fail(error) from error
            yield part
