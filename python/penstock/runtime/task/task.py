"""One subtask of a vertex: rows in, rows out. The local runner and Spark run this and nothing else.

A task collects its input (:meth:`Task.receive`), then runs (:meth:`Task.finish`). Where a single channel leads to it,
it runs as the rows come in. The last row is its report, the *commit row*, which flows to the driver: what counts is
exactly the attempt whose output was consumed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from penstock.runtime.buffers.codec import decode
from penstock.runtime.buffers.columns import TAG as COLUMNS
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.signals import STATUS, WATERMARK, Signals
from penstock.runtime.buffers.stamps import timestamps
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.fusion import TimedFeed
from penstock.runtime.chain.operator_chain import OperatorChain
from penstock.runtime.chain.outputs import Feed, HeadFeed
from penstock.runtime.chain.valve import Valve
from penstock.runtime.config.tasks import JobConfig, OperatorConfig, PendingFile, TaskReport, VertexConfig
from penstock.runtime.exchange.gate import DRIVER, REPORT, Arrival, Channel, InputGate, payload
from penstock.runtime.operators.source import SourceOperator
from penstock.runtime.state.timers import Clock
from penstock.runtime.task.outbox import Outbox
from penstock.runtime.usercode.failure import OperatorFailure, exit_error, job_error
from penstock.runtime.usercode.steps import deep, next_stride

R = TypeVar("R")

Times = Iterator["int | None"] | None
"""The timestamps of some records; None when no record has one."""


class Task:
    """A subtask.

    Args:
        vertex: what it runs.
        subtask: index from 0.
        attempt: number from 0.
        job: what all tasks share.

    Every method raises JobExecutionError when user code fails; the task is disposed of then.
    """

    def __init__(self, vertex: VertexConfig, subtask: int, attempt: int, job: JobConfig) -> None:
        self._vertex, self._subtask, self._attempt, self._job = vertex, subtask, attempt, job
        self._out = Outbox(self.name)
        self._files: list[PendingFile] = []
        self._sequence = 0
        self._records_read = self._bytes_read = 0
        self._gate = InputGate(vertex.inputs, vertex.parallelism, subtask)
        self._clock = Clock()
        self._chain: OperatorChain | None = None
        self._numbers: dict[int, int] = {}
        self._feeds: dict[int, HeadFeed] = {}
        self._timed_feeds: dict[int, TimedFeed] = {}
        self._valves: dict[int, Valve] = {}
        self._columns: tuple[Callable[[bytes], list[Any] | None], Feed] | None = None
        self._stride = 1
        self._round = 0
        self._active = True
        self._functions = job.exchange.functions

    @property
    def name(self) -> str:
        """Name of the chain and the subtask."""
        return self._vertex.task_name(self._subtask)

    def receive(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Take rows addressed to this subtask; yields what can already leave.

        With several channels nothing leaves before :meth:`finish`: the order of the input is known only then.
        """
        if not self._gate.ordered:
            for row in rows:
                self._gate.add(row)
            return iter(())
        return self._guarded(self._process(self._gate.pass_on(rows)))

    def work_off(self, ended: Container[Channel]) -> Iterator[Row]:
        """Process what has come so far, and send all results of it; more may come.

        Args:
            ended: channels that have sent everything.
        """
        return self._guarded(self._work_off(ended))

    def _work_off(self, ended: Container[Channel]) -> Iterator[Row]:
        yield from self._process(self._gate.drain(ended))
        self._open().send()
        yield from self._drain()

    @property
    def channels(self) -> list[Channel]:
        """The channels that lead to this subtask."""
        return [channel for each in self._gate.channels.values() for channel in each]

    def finish(self) -> Iterator[Row]:
        """The input has ended: run to the end; the last row is the report."""
        return filter(None, self.rounds())

    def rounds(self) -> Iterator[Row | None]:
        """The same; None stands where a source ends a round."""
        return self._guarded(self._run_to_end())

    def _guarded(self, rows: Iterator[R]) -> Iterator[R]:
        """Rows of the chain, made in a place deep enough for it, with failures in the user's terms."""
        try:
            yield from deep(len(self._vertex.operators), rows)
        except OperatorFailure as failure:
            error: BaseException = job_error(failure, self.name, self._subtask, self._attempt)
            self._dispose()
            raise error from failure.error
        except SystemExit as error:  # would end the program, or look like a crash of the worker
            self._dispose()
            raise exit_error(error, self.name, self._subtask, self._attempt) from error
        except BaseException:
            self._dispose()
            raise

    def _open(self) -> OperatorChain:
        if self._chain is None:
            self._chain = OperatorChain(self._vertex, self._subtask, self._context, self._out.append)
            self._connect(self._chain)
            self._chain.open()
        return self._chain

    def _connect(self, chain: OperatorChain) -> None:
        """Lead every edge to its input of the head."""
        edges, channels, head = self._vertex.inputs, self._gate.channels, chain.head
        valves = {n: Valve(channels[n], head.watermark(n), self._toggle) for n in sorted(channels)}
        self._feeds = {n: chain.feed(n) for n in sorted(channels)}
        self._columns = chain.columns_feed()
        self._numbers = {each.edge: each.input for each in edges}
        self._valves = {each.edge: valves[each.input] for each in edges}

    def _timed_feed(self, number: int) -> TimedFeed:
        """Made when first asked for, as most inputs have no timestamps."""
        feed = self._timed_feeds.get(number)
        if feed is None:
            feed = self._timed_feeds[number] = self._open().timed_feed(number)
        return feed

    def _toggle(self, active: bool) -> None:
        """An input, or the source, has fallen idle or come back; the task is idle when all of them are."""
        active = active or any(valve.active for valve in self._valves.values())
        if active is not self._active and self._chain is not None:
            self._active = active
            self._chain.status(active)

    def _begin_round(self, number: int) -> None:
        self._round = number
        if self._chain is not None:
            self._chain.begin_round(number)

    def _context(self, config: OperatorConfig) -> OperatorContext:
        return OperatorContext(
            self._job,
            self._vertex,
            config,
            self._subtask,
            self._attempt,
            self._send,
            self._files,
            clock=self._clock,
            toggle=self._toggle,
            begin_round=self._begin_round,
        )

    def _send(self, kind: int, data: bytes) -> None:
        self._out.append(Row(DRIVER, self._vertex.index, kind, self._subtask, self._sequence, data))
        self._sequence += 1

    def _process(self, arrivals: Iterable[Arrival]) -> Iterator[Row]:
        self._open()
        for channel, number, data, last in arrivals:
            if number is not None and number != self._round:
                self._begin_round(number)
            if data is not None:
                yield from self._read(channel, data)
            if last:
                self._valves[channel[0]].end(channel)
                yield from self._drain()

    def _read(self, channel: Channel, data: bytes) -> Iterator[Row]:
        self._bytes_read += len(data)
        if self._columns is not None and data[0] == COLUMNS:
            reduce, rest = self._columns
            results = reduce(data)
            if results is not None:
                self._records_read += len(results)
                return self._feed_to(rest, results)
        values, stamps, signals, keys = decode(data, self._functions)
        self._records_read += len(values)
        times = timestamps(stamps, len(values)) if stamps else None
        if signals:
            return self._feed_mixed(channel, values, times, signals)
        return self._feed(self._numbers[channel[0]], values, times, keys)

    def _feed(self, number: int, values: list[Any], times: Times, keys: list[Any] | None = None) -> Iterator[Row]:
        """The records of a buffer into the chain, and its rows out: one record may be a split of a file or explode
        into millions, so rows that pile up leave after each."""
        if times is not None:
            timed = self._timed_feed(number)
            return self._feed_to(lambda some, _: timed(some, times), values)
        feed = self._feeds[number]
        if keys is None:
            return self._feed_to(lambda some, time: feed(some, time, None), values)
        rest = iter(keys)
        return self._feed_to(lambda some, time: feed(some, time, list(islice(rest, len(some)))), values)

    def _feed_to(self, feed: Feed, values: list[Any]) -> Iterator[Row]:
        position = 0
        while position < len(values):
            some = values[position : position + self._stride]
            feed(some, None)
            position += len(some)
            self._stride = next_stride(self._stride, self._backlog())
            yield from self._drain()

    def _feed_mixed(self, channel: Channel, values: list[Any], times: Times, signals: Signals) -> Iterator[Row]:
        """The same for a buffer with watermarks in it."""
        number, valve = self._numbers[channel[0]], self._valves[channel[0]]
        position = 0
        for index, kind, value in signals:
            if position < index:
                yield from self._feed(number, values[position:index], times)
                position = index
            if kind == WATERMARK:
                valve.watermark(channel, value)
            elif kind == STATUS:
                valve.status(channel, bool(value))
            else:
                self._open().head.latency(value)
            if self._backlog():
                yield from self._drain()
        yield from self._feed(number, values[position:] if position else values, times)

    def _run_to_end(self) -> Iterator[Row | None]:
        chain = self._open()
        if isinstance(chain.head, SourceOperator):
            number = self._round
            for _ in chain.head.run(self._backlog):
                yield from self._drain()
                if number != self._round:
                    number = self._round
                    yield None
        else:
            yield from self._process(self._gate.drain())
            for valve in dict.fromkeys(self._valves.values()):
                valve.end_all()
                yield from self._drain()
        chain.finish()
        yield from self._drain()
        self._dispose()
        self._send(REPORT, payload(self._report(chain)))
        yield from self._drain()

    def _backlog(self) -> bool:
        """Whether rows wait that should leave; a moment between two records, so timers by the clock fire here."""
        self._clock.fire()
        return self._out.crowded()

    def _drain(self) -> Iterator[Row]:
        return self._out.take()

    def _report(self, chain: OperatorChain) -> TaskReport:
        return TaskReport(
            vertex=self._vertex.index,
            task=self.name,
            subtask=self._subtask,
            parallelism=self._vertex.parallelism,
            attempt=self._attempt,
            counters=chain.counters(self._records_read, self._bytes_read),
            files=tuple(self._files),
        )

    def _dispose(self) -> None:
        self._gate.close()
        self._out.close()
        if self._chain is not None:
            self._chain.dispose()
