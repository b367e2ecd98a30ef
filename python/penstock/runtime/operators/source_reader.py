"""How a source is read step by step: from where the step before has stopped, so many records, and no further.

*Splits* are read from their positions. A *bounded* source that is pulled counts its records; to go on after a failure
it passes over those that have been read. A *function* that pushes is run again from its start after a failure, and what
it had emitted is passed over: it has to emit the same again. The rows of a *DataFrame* are given to a step by Spark.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.runtime import native
from penstock.runtime.chain.segments import ColumnsEmitter
from penstock.runtime.config.steps import Reading
from penstock.runtime.io.sources import Batch, BatchSource
from penstock.runtime.io.splits import Records, Source, Split, SplitSource
from penstock.runtime.usercode.functions import bind, lifecycle
from penstock.runtime.usercode.interpreter import next_stride
from penstock.runtime.usercode.turns import Turns

Backlog = Callable[[], bool]
OWN = "records"  # the one split of a source without splits, in each subtask; its position is a count


class Emitting(Protocol):
    """The part of a source's operator that a reader needs."""

    emitted: int
    context: Any
    function: Any

    def emitter(self, batch: Any, split: str) -> Callable[[int, int], None]: ...
    def takes_columns(self, split: str) -> bool: ...
    def signal(self, split: str, watermark: int | None, idle: bool) -> None: ...
    def begin_splits(self, splits: Iterable[str]) -> None: ...
    def end_split(self, split: str) -> None: ...
    def context_of(self, backlog: Backlog, turns: Any) -> Any: ...


class Reader:
    """Reads a source in steps."""

    def __init__(self, operator: Emitting) -> None:
        self._operator = operator
        self.positions: dict[str, Any] = {}  # from where to go on, of the splits read in the last step
        self.ended: list[str] = []  # the splits that ended in it
        self.exhausted = False  # whether nothing is left of what has been assigned
        self._stride = 1  # records that are emitted before the next look at what waits

    def step(self, reading: Reading, backlog: Backlog) -> Iterator[None]:
        """Read; yields now and then, so that rows can leave the task."""
        self.positions, self.ended, self.exhausted = {}, [], False
        yield from self._step(reading, backlog)

    def _step(self, reading: Reading, backlog: Backlog) -> Iterator[None]:
        raise NotImplementedError

    def close(self) -> None: ...

    def _emit(self, batch: Any, values: Sequence[Any], split: str, backlog: Backlog) -> Iterator[None]:
        emit, position = self._operator.emitter(batch, split), 0
        broad = isinstance(emit, ColumnsEmitter) and emit.way.broad
        while position < len(values):
            end = min(position + self._stride, len(values))
            emit(position, end)
            self._operator.emitted += end - position
            position = end
            waiting = backlog()
            self._stride = next_stride(self._stride, waiting, broad=broad)
            if waiting:
                yield


class SplitReader(Reader):
    """Reads splits. One that has no end so far is kept open from step to step."""

    def __init__(self, operator: Emitting, source: Source[Any]) -> None:
        super().__init__(operator)
        self._source = source
        self._open: dict[str, tuple[Any, Any, Iterator[Records[Any]]]] = {}  # by split: its end, the position

    def _step(self, reading: Reading, backlog: Backlog) -> Iterator[None]:
        left = reading.records
        self._operator.begin_splits(split.id for split in reading.splits)
        share = -(-left // max(len(reading.splits), 1)) if self._source.together else left
        for number, split in enumerate(reading.splits):
            if left <= 0:
                break
            before = self._operator.emitted
            yield from self._read(split, min(share, left), backlog)
            left -= self._operator.emitted - before
            self.exhausted = number + 1 == len(reading.splits) and len(self.ended) == len(reading.splits)
        if not reading.splits:
            self.exhausted = True

    def _read(self, split: Split, most: int, backlog: Backlog) -> Iterator[None]:
        operator, call = self._operator, self._operator.context.call
        rows, read = self._rows(split), 0
        while read < most:
            records = call(next, rows, None)
            if records is None:
                self.positions.setdefault(split.id, split.start)
                if split.finite or self._source.bounded:
                    self.ended.append(split.id)
                    operator.end_split(split.id)
                return
            yield from self._emit(Batch(records.values, records.timestamps), records.values, split.id, backlog)
            read += len(records.values)
            self.positions[split.id] = records.position
            if records.watermark is not None or records.idle:
                operator.signal(split.id, records.watermark, records.idle)
        if split.end is None or self.positions[split.id] != split.end:
            self._open[split.id] = split.end, self.positions[split.id], rows
        elif split.finite or self._source.bounded:
            self.ended.append(split.id)

    def _rows(self, split: Split) -> Iterator[Records[Any]]:
        end, position, rows = self._open.pop(split.id, (None, None, None))
        if rows is not None and end == split.end and position == split.start:
            return rows
        operator, source = self._operator, self._source
        settings = operator.context.job.settings
        functions = native.functions(settings.native and settings.native_plane)
        if functions is None:
            return operator.context.call(lambda: iter(source.read(split)))
        wanted = operator.takes_columns(split.id)
        return operator.context.call(lambda: iter(source.read_columns(split, functions, wanted)))

    def close(self) -> None:
        for _, _, rows in self._open.values():
            close = getattr(rows, "close", None)
            if close is not None:
                close()
        self._open.clear()


class BatchReader(Reader):
    """Reads a bounded source without splits, or parts of it, one after the other. A part is what a subtask has where
    there are as many subtasks as parts; its position is the number of records read."""

    def __init__(self, operator: Emitting, source: BatchSource) -> None:
        super().__init__(operator)
        self._source = source
        self._parts: dict[str, _Part] = {}

    def _step(self, reading: Reading, backlog: Backlog) -> Iterator[None]:
        left = reading.records
        parts = {split.id: self._part(split, reading.parts) for split in reading.splits}
        for name, part in parts.items():
            while left > 0 and self._more(part):
                values, part.rest = (part.rest, ()) if len(part.rest) <= left else (part.rest[:left], part.rest[left:])
                left -= len(values)
                part.position += len(values)
                yield from self._emit(Batch(values), values, OWN, backlog)
            self.positions[name] = part.position
        self.exhausted = not any(map(self._more, parts.values()))

    def _part(self, split: Split, parts: int) -> _Part:
        start, known = split.start or 0, self._parts.get(split.id)
        if known is not None and known.position == start:
            return known
        context = self._operator.context
        number = context.subtask if split.id == OWN else int(split.id.removeprefix(f"{OWN}-"))
        batches = context.call(self._source.batches, number, parts or context.vertex.parallelism)
        part = self._parts[split.id] = _Part(batches, start)
        passed = 0
        while passed < start and self._more(part):
            passed += len(part.rest)
            part.rest = part.rest[len(part.rest) - (passed - start) :] if passed > start else ()
        return part

    def _more(self, part: _Part) -> bool:
        while not part.rest:
            batch = self._operator.context.call(next, part.batches, None)
            if batch is None:
                return False
            part.rest = batch.values if isinstance(batch, Batch) else batch
        return True


@dataclass(slots=True)
class _Part:
    batches: Iterator[Any]
    position: int
    rest: Sequence[Any] = ()


class FrameReader(Reader):
    """Reads the rows of a DataFrame that a step is given, all of them: who gives them knows their positions."""

    def _step(self, reading: Reading, backlog: Backlog) -> Iterator[None]:
        context = self._operator.context
        source: BatchSource = self._operator.function
        batches = context.call(source.batches, context.subtask, context.vertex.parallelism)
        while (values := context.call(next, batches, None)) is not None:
            yield from self._emit(Batch(values), values, OWN, backlog)
        self.exhausted = True


class FunctionReader(Reader):
    """Runs a function that pushes. Its position is how often it has called its context, and how many rounds it has
    ended."""

    def __init__(self, operator: Emitting) -> None:
        super().__init__(operator)
        self._turns: Turns | None = None
        self._context: Any = None
        self._before = 0  # records that the operator had emitted when the function was started

    def _step(self, reading: Reading, backlog: Backlog) -> Iterator[None]:
        calls, rounds = reading.splits[0].start or (0, 0)
        start = calls, rounds
        if self._turns is None or self._context.position != start:
            self._begin(start, backlog)
        turns, context = self._turns, self._context
        assert turns is not None
        until = None if reading.millis is None else time.monotonic() + reading.millis / 1000
        context.begin_step(reading.records, waits=until is None, stamps=reading.stamps)
        while not (turns.done or context.over or reading.records <= 0):
            if not turns.give(None if until is None else max(until - time.monotonic(), 0.002)):
                break
            yield
        self._operator.emitted = self._before + context.emitted
        if turns.error is not None:
            self._cancel()
            raise turns.error
        self.positions = {OWN: list(context.position)}
        self.exhausted = turns.done
        if reading.drain:
            self.close()
        if turns.done or reading.drain:
            context.end()

    def _begin(self, start: tuple[int, int], backlog: Backlog) -> None:
        self.close()
        operator = self._operator
        run = bind(operator.function, "run")
        self._turns = turns = Turns(lambda: operator.context.call(run, self._context))
        self._before = operator.emitted

        def counted() -> bool:
            operator.emitted = self._before + self._context.emitted
            return backlog()

        self._context = operator.context_of(counted, turns)
        self._context.skip(*start)

    def close(self) -> None:
        if self._turns is not None and not self._turns.done:
            self._cancel()
            self._turns.cancel()
        self._turns = None

    def _cancel(self) -> None:
        cancel = lifecycle(self._operator.function, "cancel")
        if cancel is not None:
            cancel()


def everything(function: Any, subtask: int, *, stamps: bool = False) -> Reading:
    """The reading of a subtask that reads all of a bounded source at once."""
    if isinstance(function, SplitSource):
        splits = function.dealt[subtask]
    else:
        splits = (Split(f"{OWN}-{subtask}" if isinstance(function, BatchSource) else OWN),)
    return Reading(splits, millis=None, last=True, stamps=stamps)


def reader_of(operator: Emitting) -> Reader:
    """The reader of an operator's source."""
    function = operator.function
    if isinstance(function, SplitSource):
        return SplitReader(operator, function.source)
    if isinstance(function, BatchSource):
        return FrameReader(operator) if function.is_given_rows else BatchReader(operator, function)
    return FunctionReader(operator)
