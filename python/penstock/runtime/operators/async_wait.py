"""AsyncWait: slow calls, many at a time, on an event loop of the task.

*Ordered*: results leave in the order of the input, watermarks included. *Unordered*: they leave as they come, but never
pass a watermark. When ``capacity`` calls and watermarks are held, the operator waits for one to leave; at the end of
the input for all of them.

The timeout is that of a call with all its retries. At the end of the input every call has its retries; Flink makes one
more attempt at once, so that results would depend on the clock. Sources of the semantics: ``AsyncWaitOperator`` (Flink
1.11; 2.3 for retries), whose numRecordsOut stays 0."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.common.async_retry import AsyncRetryStrategy
from penstock.common.typeinfo import TypeInformation
from penstock.errors import InvalidProgramError, PenstockError
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


def _retrying(
    invoke: Callable[[Any], Awaitable[Any]], strategy: AsyncRetryStrategy[Any]
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
            await asyncio.sleep(strategy.get_backoff_time_millis(attempt) / 1000)
            attempt += 1

    return ask


@dataclass(slots=True, eq=False)
class _Call:
    value: Any
    timestamp: int | None
    results: Iterable[Any] | None = None
    error: BaseException | None = None


@dataclass(slots=True, eq=False)
class _Segment:
    """Calls between two watermarks."""

    waiting: int = 0  # calls under way
    done: deque[_Call] = field(default_factory=deque)  # calls that have ended, in the order in which they leave
    watermark: int | None = None  # that follows, once it is known


def _end(call: _Call, results: Any) -> None:
    if results is None:
        call.error = InvalidProgramError(
            f"The result of AsyncFunction cannot be none, and was for the record {call.value!r}. Return a list: [] for "
            "no record, [record] for one.",
            flink_class="java.lang.NullPointerException",
        )
    call.results = results


class _AsyncWait(LiveOperator):
    counts_output: ClassVar[bool] = False

    def __init__(self, context: OperatorContext, output: CountingOutput, spec: AsyncWait) -> None:
        super().__init__(context, output, spec.f, spec.keyed)
        self._spec = spec
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
        invoke = bind(self.function, "async_invoke")
        if self._spec.retry is not None:
            invoke = _retrying(invoke, self._spec.retry)

        def process(value: Any, timestamp: int | None) -> None:
            self._hold()
            call, segment = _Call(value, timestamp), self._segments[-1]
            self._under_way += 1
            segment.waiting += 1
            if self._spec.ordered:
                segment.done.append(call)
            self._loop.create_task(self._run(call, segment, invoke))
            self._turn()
            self._leave()

        return process

    async def _run(self, call: _Call, segment: _Segment, invoke: Any) -> None:
        asked = asyncio.ensure_future(invoke(call.value))
        await asyncio.wait({asked}, timeout=self._seconds)
        if not asked.done():
            asked.cancel()
            self._time_out(call)
        elif (error := asked.exception()) is not None:
            call.error = error
        else:
            _end(call, asked.result())
        segment.waiting -= 1
        self._under_way -= 1
        if not self._spec.ordered:
            segment.done.append(call)

    def _time_out(self, call: _Call) -> None:
        handler = getattr(self.function, "timeout", None)
        try:
            if handler is None:
                raise TimeoutError("Async function call has timed out.")
            _end(call, handler(call.value))
        except Exception as error:
            call.error = error

    def _hold(self) -> None:
        while self._held >= self._spec.capacity:
            self._wait()
        self._held += 1

    def _turn(self) -> None:
        self._loop.run_until_complete(asyncio.sleep(0))

    def _wait(self) -> None:
        tasks = asyncio.all_tasks(self._loop)
        if tasks:
            self._loop.run_until_complete(asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED))
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
            record = file_text(self.context.config.input_type)(call.value)
            failure = PenstockError(
                f"Could not complete the stream element: Record @ {call.timestamp} : {record}.",
                flink_class="java.lang.Exception",
            )
            failure.__cause__ = call.error
            raise self.context.fail(failure) from failure
        assert call.results is not None
        try:
            for result in call.results:
                self.emitted += 1
                self.output.collect(result, call.timestamp)
        except Exception as error:
            raise self.context.fail(unless_iterable(call.results, self.function, error)) from error

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

    def end_step(self) -> None:
        self.end_input()

    def dispose(self) -> None:
        super().dispose()
        self._loop.set_exception_handler(lambda *_: None)  # calls that failed behind the one that failed the task
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._turn()
        self._loop.close()
