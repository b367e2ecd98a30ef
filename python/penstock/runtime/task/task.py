"""One subtask of a vertex: rows in, rows out. What it does in a step is in :mod:`.step_task`.

A task collects its input (:meth:`Task.receive`), then runs (:meth:`Task.finish`). Where a single channel leads to it,
it runs as the rows come in. The last row is its report, the *commit row*, which flows to the driver: what counts is
exactly the attempt whose output was consumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from penstock.errors import JobCancelledError
from penstock.metrics.results import SubtaskMetrics
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.buffers.row import Row
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.entry import Entry
from penstock.runtime.chain.operator_chain import OperatorChain
from penstock.runtime.config.tasks import Committable, JobConfig, OperatorConfig, PendingFile, TaskReport, VertexConfig
from penstock.runtime.exchange.gate import DRIVER, SPOKEN, Arrival, Channel, InputGate
from penstock.runtime.state.timers import Clock
from penstock.runtime.task.outbox import Outbox, Spoken
from penstock.runtime.usercode.failure import OperatorFailure, exit_error, job_error
from penstock.runtime.usercode.interpreter import deep
from penstock.storage.stores import configure


class Task:
    """A subtask.

    Args:
        vertex: what it runs.
        subtask: index from 0.
        attempt: number from 0.
        job: what all tasks share.

    Attributes:
        spoken: a standard output for user code whose texts go to the driver; whoever runs the task may put it there.
        look: called between two records, so that whoever runs the task can look at its counters; says whether that has
            taken so long that there should be fewer records in between. None: nobody looks.

    Every method raises JobExecutionError when user code fails; the task is disposed of then.
    """

    def __init__(self, vertex: VertexConfig, subtask: int, attempt: int, job: JobConfig) -> None:
        self._vertex, self._subtask, self._attempt, self._job = vertex, subtask, attempt, job
        self.look: Callable[[], bool] | None = None
        self._out = Outbox(self.name)
        self.spoken = Spoken(lambda text: self._send(SPOKEN, dumps(text)))
        self._files: list[PendingFile] = []
        self._committables: list[Committable] = []
        self._sequence = 0
        self._cancelled = False
        self._given: Iterable[Any] | None = None
        self._gate = InputGate(vertex.inputs, vertex.parallelism, subtask)
        self._clock = Clock()
        self._disposed = False
        self._chain: OperatorChain | None = None
        self._entries: dict[int, Entry] = {}  # by edge; those of one input share theirs

    @property
    def name(self) -> str:
        """Name of the chain and the subtask."""
        return self._vertex.task_name(self._subtask)

    def cancel(self) -> None:
        """Have the task raise JobCancelledError between two records, or two rows. Any thread may call it."""
        self._cancelled = True
        self._out.hurry()

    def read(self, batches: Iterable[Any]) -> None:
        """Take the rows of the DataFrame that the task's source reads, as Arrow batches; they are read when it runs."""
        self._given = batches

    def receive(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Take rows addressed to this subtask; yields what can already leave.

        With several channels nothing leaves before :meth:`finish`: the order of the input is known only then.
        """
        if not self._gate.ordered:
            for row in rows:
                self._gate.add(row)
            return iter(())
        return self._guarded(self._process(self._gate.pass_on(rows)))

    @property
    def channels(self) -> list[Channel]:
        """The channels that lead to this subtask."""
        return [channel for each in self._gate.channels.values() for channel in each]

    def finish(self) -> Iterator[Row]:
        """The input is there: work it off; the last row is the report."""
        raise NotImplementedError

    def _guarded(self, rows: Iterator[Row]) -> Iterator[Row]:
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
            configure(self._job.settings.storage_options)
            for module in self._job.settings.imports:
                import_module(module)
            self._chain = OperatorChain(self._vertex, self._subtask, self._context, self._out.append)
            self._connect(self._chain)
            self._begin_chain(self._chain)
            self._chain.open()
        return self._chain

    def _begin_chain(self, chain: OperatorChain) -> None:
        """The chain is about to open."""

    def _connect(self, chain: OperatorChain) -> None:
        """Lead every edge to its input of the head."""
        channels = sorted(self._gate.channels.items())
        entries = {number: chain.entry(number, each, self._toggle, self._backlog) for number, each in channels}
        self._entries = {each.edge: entries[each.input] for each in self._vertex.inputs}

    def _toggle(self, active: bool) -> None:
        """An input, or the source, has fallen idle or come back; the task is idle when all of them are."""
        active = active or any(entry.valve.active for entry in self._entries.values())
        if self._chain is not None:
            self._chain.status(active)

    def _context(self, config: OperatorConfig) -> OperatorContext:
        return OperatorContext(
            self._job,
            self._vertex,
            config,
            self._subtask,
            self._attempt,
            self._send,
            self._files,
            self._committables,
            clock=self._clock,
            toggle=self._toggle,
            begin_round=lambda number: self._open().begin_round(number),
            look=lambda: self.look is not None and self.look(),
        )

    def _send(self, kind: int, data: bytes) -> None:
        self._out.append(Row(DRIVER, self._vertex.index, kind, self._subtask, self._sequence, data))
        self._sequence += 1

    def _process(self, arrivals: Iterable[Arrival]) -> Iterator[Row]:
        chain = self._open()
        for channel, number, data, last in arrivals:
            if number is not None and number != chain.round:
                chain.begin_round(number)
            entry = self._entries[channel[0]]
            if data is not None:
                yield from self._drain_between(entry.take(channel, data))
            if last:
                entry.valve.end(channel)
                yield from self._drain()

    def _drain_between(self, steps: Iterator[None]) -> Iterator[Row]:
        for _ in steps:
            yield from self._drain()

    def _backlog(self) -> bool:
        """Whether rows wait that should leave; a moment between two records, so timers by the clock fire here."""
        self._clock.fire()
        slow = self.look is not None and self.look()
        return self._out.crowded() or slow

    def _drain(self) -> Iterator[Row]:
        if self._cancelled:
            raise JobCancelledError(f"The job {self._job.name!r} was cancelled. Nothing was printed or published.")
        return self._out.take()

    def counters(self) -> tuple[SubtaskMetrics, ...]:
        """What each operator has counted so far, in pre-order; nothing before the first row. For whoever runs the task,
        between two of its rows, or when it calls :attr:`look`."""
        if self._chain is None:
            return ()
        entries = set(self._entries.values())
        return self._chain.counters(sum(each.records for each in entries), sum(each.bytes for each in entries))

    def _report(self) -> TaskReport:
        return TaskReport(
            vertex=self._vertex.index,
            task=self.name,
            subtask=self._subtask,
            parallelism=self._vertex.parallelism,
            attempt=self._attempt,
            counters=self.counters(),
            files=tuple(self._files),
            committables=tuple(self._committables),
        )

    def _dispose(self) -> None:
        """Release everything, once."""
        if self._disposed:
            return
        self._disposed = True
        self._gate.close()
        self._out.close()
        if self._chain is not None:
            self._chain.dispose()
