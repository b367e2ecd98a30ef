"""AsyncWait: slow calls, many at a time, on an event loop of the task; AsyncBatchWait: each call for many records.

*Ordered*: results leave in the order of the input, watermarks included. *Unordered*: they leave as they come, but never
pass a watermark. When ``capacity`` calls and watermarks are held, the operator waits for one to leave; at the end of
the input for all of them.

The timeout is that of a call with all its retries. At the end of the input every call has its retries; Flink makes one
more attempt at once, so that results would depend on the clock. Sources of the semantics: ``AsyncWaitOperator`` (Flink
1.11; 2.3 for retries), whose numRecordsOut stays 0.

*Batches*: records wait for a call until there are as many as it takes, or until the first of them has waited for long
enough; never over a watermark, the end of a step, or of the input. Source: ``AsyncBatchWaitOperator`` (Flink's
development branch, 2.4), whose results have no timestamps."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Any, ClassVar

from penstock.common.async_retry import AsyncRetryStrategy
from penstock.common.typeinfo import TypeInformation
from penstock.errors import InvalidProgramError, PenstockError
from penstock.runtime.buffers.codec import keeper
from penstock.runtime.chain.context import OperatorContext, RuntimeContext, StatelessContext
from penstock.runtime.chain.operator import LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.io.text import file_text
from penstock.runtime.usercode.functions import bind, unless_iterable


@dataclass(frozen=True, eq=False)
class AsyncWait(StreamOperator):
    """Awaits a function. ``f`` is an object with ``async async_invoke(value)``, and perhaps ``timeout(value)``; both
    give an iterable of records."""

    f: Any
    ordered: bool
    timeout: int  # milliseconds that a call may take, with its retries; 0 for any time
    capacity: int = 100  # how many calls and watermarks may be held
    output_type: TypeInformation[Any] | None = None
    retry: AsyncRetryStrategy[Any] | None = None

    def prepare(self, parallelism: int) -> AsyncWait:
        if self.capacity < 1:
            raise InvalidProgramError(
                f"An async function was given capacity={self.capacity}: one call at least must be able to be "
                "under way. Give 1 or more.",
                flink_class="java.lang.IllegalArgumentException",
            )
        return self

    @property
    def keeps_state(self) -> bool:
        return True

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _AsyncWait(context, output, self)


@dataclass(frozen=True, eq=False)
class AsyncBatchWait(AsyncWait):
    """Awaits a function of many records. ``f`` is an object with ``async async_invoke_batch(values)``, and perhaps
    ``timeout_batch(values)``; both give a list of records: one for each value, with its timestamp, or any number, with
    the largest timestamp. ``capacity`` counts calls."""

    batch_size: int = field(kw_only=True)
    batch_timeout: int | None = field(default=None, kw_only=True)  # milliseconds that a record waits for others

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _AsyncBatchWait(context, output, self)


def _retrying(
    invoke: Callable[[Any], Awaitable[Any]], strategy: AsyncRetryStrategy[Any], sleep: Callable[[float], Awaitable[Any]]
) -> Callable[[Any], Awaitable[Any]]:
    """``invoke``, called again as the strategy says."""
    predicate = strategy.get_retry_predicate()
    again_for, again_after = predicate.result_predicate(), predicate.exception_predicate()

    async def ask(value: Any) -> Any:
        attempt = 1
        while True:
            try:
                results = await invoke(value)
            except Exception as error:
                if again_after is None or not again_after(error) or not strategy.can_retry(attempt):
                    raise
            else:
                if again_for is None or not hasattr(results or (), "__iter__"):
                    return results
                results = list(results or ())
                if not again_for(results) or not strategy.can_retry(attempt):
                    return results
            await sleep(strategy.get_backoff_time_millis(attempt) / 1000)
            attempt += 1

    return ask


@dataclass(slots=True, eq=False)
class _Call:
    value: Any  # a record, or a list of them, as the function takes it
    times: list[int | None]  # timestamps of the records
    results: Iterable[Any] | None = None
    error: BaseException | None = None


@dataclass(slots=True, eq=False)
class _Segment:
    """Calls between two watermarks."""

    waiting: int = 0  # calls under way
    done: deque[_Call] = field(default_factory=deque)  # calls that have ended, in the order in which they leave
    watermark: int | None = None  # that follows, once it is known


class _AsyncWait(LiveOperator):
    counts_output: ClassVar[bool] = False
    base: ClassVar[str] = "AsyncFunction"
    methods: ClassVar[tuple[str, str]] = "async_invoke", "timeout"

    def __init__(self, context: OperatorContext, output: CountingOutput, spec: AsyncWait) -> None:
        super().__init__(context, output, spec.f, spec.keyed)
        self._spec = spec
        import asyncio  # it takes a tenth of the time that `import penstock.datastream` took with it

        self._asyncio = asyncio
        self._loop = asyncio.new_event_loop()
        self._segments = deque([_Segment()])
        self._seconds = spec.timeout / 1000 if spec.timeout > 0 else None
        self._under_way = self._held = 0
        self.emitted: int = 0

    def _function_context(self) -> RuntimeContext:
        return StatelessContext(
            self.context,
            f"The async function of operator {self.context.config.name!r} asked for keyed state. Async functions have "
            "none, as their calls overlap. Keep the state in a process function before or after it.",
        )

    def input(self, number: int) -> Collector:
        begin = self._begin

        def process(value: Any, timestamp: int | None) -> None:
            begin(_Call(value, [timestamp]))

        return process

    @cached_property
    def _invoke(self) -> Callable[[Any], Awaitable[Any]]:
        invoke = bind(self.function, self.methods[0])
        return invoke if self._spec.retry is None else _retrying(invoke, self._spec.retry, self._asyncio.sleep)

    def _begin(self, call: _Call) -> None:
        self._hold()
        segment = self._segments[-1]
        self._under_way += 1
        segment.waiting += 1
        if self._spec.ordered:
            segment.done.append(call)
        self._loop.create_task(self._run(call, segment, self._invoke))
        self._turn()
        self._leave()

    async def _run(self, call: _Call, segment: _Segment, invoke: Any) -> None:
        asked = self._asyncio.ensure_future(invoke(call.value))
        await self._asyncio.wait({asked}, timeout=self._seconds)
        if not asked.done():
            asked.cancel()
            self._time_out(call)
        elif (error := asked.exception()) is not None:
            call.error = error
        else:
            self._end(call, asked.result())
        segment.waiting -= 1
        self._under_way -= 1
        if not self._spec.ordered:
            segment.done.append(call)

    def _time_out(self, call: _Call) -> None:
        handler = getattr(self.function, self.methods[1], None)
        try:
            if handler is None:
                raise TimeoutError("Async function call has timed out.")
            self._end(call, handler(call.value))
        except Exception as error:
            call.error = error

    def _end(self, call: _Call, results: Any) -> None:
        if results is None:
            call.error = InvalidProgramError(
                f"The result of {self.base} cannot be none, and was for {self._subject(call)}. Return a list: [] for "
                "no record, [record] for one.",
                flink_class="java.lang.NullPointerException",
            )
        call.results = results

    def _subject(self, call: _Call) -> str:
        return f"the record {call.value!r}"

    def _element(self, call: _Call) -> str:
        """A call's record in a message, as Flink has it."""
        return f"stream element: Record @ {call.times[0]} : {self._text(call.value)}"

    @cached_property
    def _text(self) -> Callable[[Any], str]:
        return file_text(self.context.config.input_type)

    def _hold(self) -> None:
        while self._held >= self._spec.capacity:
            self._wait()
        self._held += 1

    def _turn(self) -> None:
        self._loop.run_until_complete(self._asyncio.sleep(0))

    def _wait(self) -> None:
        tasks = self._asyncio.all_tasks(self._loop)
        if tasks:
            self._loop.run_until_complete(self._asyncio.wait(tasks, return_when=self._asyncio.FIRST_COMPLETED))
        self._leave()

    def _leave(self) -> None:
        segments = self._segments
        while True:
            segment = segments[0]
            while segment.done and (segment.done[0].results is not None or segment.done[0].error is not None):
                self._emit(segment.done.popleft())
            if segment.done or segment.waiting or segment.watermark is None:
                return
            segments.popleft()
            self._held -= 1
            super().advance(segment.watermark)

    def _emit(self, call: _Call) -> None:
        self._held -= 1
        if call.error is not None:
            failure = PenstockError(f"Could not complete the {self._element(call)}.", flink_class="java.lang.Exception")
            failure.__cause__ = call.error
            raise self.context.fail(failure) from failure
        assert call.results is not None
        try:
            for result, timestamp in self._timed(call.results, call.times):
                self.emitted += 1
                self.output.collect(result, timestamp)
        except Exception as error:
            raise self.context.fail(unless_iterable(call.results, self.function, error)) from error

    def _timed(self, results: Iterable[Any], times: list[int | None]) -> Iterable[tuple[Any, int | None]]:
        """The results of a call with their timestamps."""
        return zip(results, repeat(times[0]), strict=False)

    def advance(self, watermark: int) -> None:
        """A watermark waits for the calls before it."""
        self._hold()
        self.context.time.watermark = watermark
        self._segments[-1].watermark = watermark
        self._segments.append(_Segment())
        self._turn()
        self._leave()

    def end_input(self) -> None:
        while self._under_way:
            self._wait()
        self._leave()

    def end_round(self) -> None:
        self.end_input()

    def end_step(self) -> None:
        self.end_input()

    def dispose(self) -> None:
        super().dispose()
        self._loop.set_exception_handler(lambda *_: None)  # calls that failed behind the one that failed the task
        for task in self._asyncio.all_tasks(self._loop):
            task.cancel()
        self._turn()
        self._loop.close()


class _AsyncBatchWait(_AsyncWait):
    base = "AsyncBatchFunction"
    methods = "async_invoke_batch", "timeout_batch"

    def __init__(self, context: OperatorContext, output: CountingOutput, spec: AsyncBatchWait) -> None:
        super().__init__(context, output, spec)
        self._size, self._longest = spec.batch_size, spec.batch_timeout
        self._values: list[Any] = []
        self._times: list[int | None] = []
        self._due: int | None = None
        if self._longest is not None:
            context.clock.add(self)

    def input(self, number: int) -> Collector:
        settings, config, clock = self.context.job.settings, self.context.config, self.context.clock
        keep = None if settings.object_reuse else keeper(config.input_type)

        def process(value: Any, timestamp: int | None) -> None:
            self._values.append(value if keep is None else keep(value))
            self._times.append(timestamp)
            if self._longest is not None:
                if self._due is None:
                    self._due = clock.now() + self._longest
                self.reach(clock.now())
            if len(self._values) >= self._size:
                self._send()

        return process

    def _send(self) -> None:
        """Begin a call for the records that wait."""
        values, times, self._values, self._times, self._due = self._values, self._times, [], [], None
        if values:
            self._begin(_Call(values, times))

    def next_due(self) -> int | None:
        return self._due

    def reach(self, now: int) -> None:
        """Time has passed: the records that wait may have waited for long enough."""
        if self._due is not None and self._due <= now:
            self._send()

    def _subject(self, call: _Call) -> str:
        return f"a batch of {len(call.value)} records, the first of them {call.value[0]!r}"

    def _element(self, call: _Call) -> str:
        first = f"Record @ {call.times[0]} : {self._text(call.value[0])}"
        return f"batch of {len(call.value)} stream elements, the first of them: {first}"

    def _timed(self, results: Iterable[Any], times: list[int | None]) -> Iterable[tuple[Any, int | None]]:
        results = list(results)
        if len(results) == len(times):
            return zip(results, times, strict=True)
        return zip(results, repeat(max((time for time in times if time is not None), default=None)), strict=False)

    def advance(self, watermark: int) -> None:
        self._send()
        super().advance(watermark)

    def end_input(self) -> None:
        self._send()
        super().end_input()
