"""One subtask of a vertex: in each step it takes rows, works them off, saves the changed state and reports.

Input is collected (:meth:`Task.receive`), then processed (:meth:`Task.finish`); where a single channel leads to the
task, rows are processed as they come. The last row is the report, the *commit row*: what counts is exactly the attempt
whose output was consumed. After a step the task waits for the next one, if its process keeps it, or hands its state to
another object (:class:`Held`). Kept state may be some steps old: the logs that it missed are replayed. It is valid as
long as the file that it was built from is in the subtask's series."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain as chain_of
from typing import Any

from penstock.errors import JobCancelledError
from penstock.metrics.results import SubtaskMetrics, difference
from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.entry import Entry
from penstock.runtime.chain.operator import LiveOperator
from penstock.runtime.chain.operator_chain import OperatorChain
from penstock.runtime.checkpoint.state_series import load, repair, save
from penstock.runtime.config.steps import Assignment, Series, StepReport
from penstock.runtime.config.tasks import Committable, JobConfig, OperatorConfig, PendingFile, TaskReport, VertexConfig
from penstock.runtime.exchange.gate import DRIVER, ENDED, REPORT, SPOKEN, Arrival, Channel, InputGate
from penstock.runtime.operators.iteration import LiveHead
from penstock.runtime.operators.source import SourceOperator
from penstock.runtime.operators.source_reader import everything
from penstock.runtime.state.class_changes import drop_lost
from penstock.runtime.state.evolution import unread
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import MEMORY_PER_BYTE, KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.operator_time import Clock
from penstock.runtime.task.outbox import Outbox, Spoken
from penstock.runtime.usercode.failure import OperatorFailure, exit_error, job_error
from penstock.runtime.usercode.interpreter import deep
from penstock.storage.stores import configure


@dataclass
class Held:
    """State of an operator's subtask, at the file of this name in its series; "" for none."""

    keyed: KeyedState | None
    operator_state: OperatorState = field(default_factory=OperatorState)
    file: str = ""


class Task:
    """A subtask. Each step begins by :meth:`begin`; then come :meth:`receive` and :meth:`finish`. ``spoken`` is a
    standard output for user code whose texts go to the driver. ``look`` is called between two records, so that whoever
    runs the task can see its counters; it returns whether there should be fewer records in between. ``volatile`` is
    what the last step reported: whoever is given the same continues where this object is.

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
        self._batches: Iterable[Any] | None = None
        self._gate = InputGate(vertex.inputs, vertex.parallelism, subtask)
        self._clock = Clock()
        self._disposed = False
        self._chain: OperatorChain | None = None
        self._entries: dict[int, Entry] = {}  # by edge; those of one input share theirs
        self._ended: set[Channel] = set()
        self._assignment = Assignment(0)
        self._series: dict[str, Series] = {}
        self._measured: tuple[SubtaskMetrics | None, ...] = (None,) * len(vertex.operators)  # before this step
        self._counted = self._measured
        self.finished = False
        self._untouched = False  # opened, and in no step yet
        self._inherited: dict[str, Held] = {}
        self._taken: set[str] = set()  # operators whose state is in files of others, and is to be written anew
        self.volatile = b""

    @property
    def name(self) -> str:
        return self._vertex.task_name(self._subtask)

    def cancel(self) -> None:
        """Have the task raise JobCancelledError between two records, or two rows. Any thread may call it."""
        self._cancelled = True
        self._out.hurry()

    def read(self, batches: Iterable[Any]) -> None:
        """Take the rows of the DataFrame that the task's source reads, as Arrow batches; they are read when it runs."""
        self._batches = batches

    def inherit(self, other: Task) -> None:
        """Take over the state of an object that has run this subtask before, and not later than the last step. What is
        missing is read. The other one is disposed of."""
        for operator in other._operators():
            context = operator.context
            series = other._series.get(context.config.operator_id)
            if series:
                held = Held(context.state, context.operator_state, series[-1].name)
                self._inherited[context.config.operator_id] = held
        states = [held.keyed for held in self._inherited.values() if held.keyed is not None]
        for state in states:
            state.passed_on = True  # it is needed, though the other one is closed
        other.close()
        for state in states:
            state.release()

    def _operators(self) -> Iterable[LiveOperator]:
        return () if self._chain is None else self._chain.operators.values()

    @property
    def version(self) -> int:
        """The version behind which its step began."""
        return self._assignment.version

    def bytes(self) -> int:
        states = {operator.context.config.operator_id: operator.context.state for operator in self._operators()}
        total = 0
        for operator_id, series in self._series.items():
            written, state = sum(file.bytes for file in series), states.get(operator_id)
            total += MEMORY_PER_BYTE * written if state is None else state.memory(written)
        return total

    def begin(self, assignment: Assignment) -> None:
        """Begin a step; state and volatile data in the assignment are for the first one only."""
        self._assignment = assignment
        self._measured = self._counted
        self._sequence = 0
        if self._chain is not None and not self._untouched:
            self._chain.begin_step(assignment.version)
        for operator in self._operators():
            context = operator.context
            context.version = assignment.version + 1
            context.saves, context.commits = assignment.saves, assignment.commits
        self._untouched = False
        self._gate.begin_step(self._ended)

    def receive(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Take rows addressed to this subtask; yields what can already leave.

        With several channels nothing leaves before :meth:`finish`: the order of the input is known only then.
        """
        rows = self._open_channels(rows)
        if not self._gate.ordered:
            for row in rows:
                self._gate.add(row)
            return iter(())
        return self._guarded(self._process(self._gate.pass_on(rows)))

    def _open_channels(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows with records; the others say that a channel has ended."""
        for row in rows:
            if row.data == ENDED:
                self._ended.add((row.edge, row.sender))
            else:
                yield row

    def finish(self) -> Iterator[Row]:
        """The input of the step is there: work it off; the last row is the report."""
        return self._guarded(self._opening() if self._assignment.opens else self._step())

    def _guarded(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Rows of the chain, made in a place deep enough for it, with failures in the user's terms."""
        try:
            yield from deep(len(self._vertex.operators), rows)
        except OperatorFailure as failure:
            error: BaseException = job_error(failure, self.name, self._subtask, self._attempt)
            self.close()
            raise error from failure.error
        except SystemExit as error:  # would end the program, or look like a crash of the worker
            self.close()
            raise exit_error(error, self.name, self._subtask, self._attempt) from error
        except BaseException:
            self.close()
            raise

    def _opening(self) -> Iterator[Row]:
        """Open, and no more; what functions have sent meanwhile leaves in the first step."""
        chain = self._open()
        self._untouched, self.volatile = True, self._assignment.volatile
        operators = chain.operators.values()
        nothing = self._report(), self._assignment.version, {}, self.volatile, {}, (), False
        waits = self._clock.next_due(), any(operator.ticks for operator in operators)
        report = StepReport(*nothing, *waits, {}, notes=dict(map(_notes, operators)))
        yield Row(DRIVER, self._vertex.index, REPORT, self._subtask, 0, dumps(report))

    def _open(self) -> OperatorChain:
        if self._chain is not None:
            return self._chain
        configure(self._job.settings.storage_options)
        for module in self._job.settings.imports:
            import_module(module)
        chain = self._chain = OperatorChain(self._vertex, self._subtask, self._context, self._out.append)
        channels = sorted(self._gate.channels.items())
        entries = {number: chain.entry(number, names, self._toggle, self._backlog) for number, names in channels}
        self._entries = {edge.edge: entries[edge.input] for edge in self._vertex.inputs}
        self._restore_all(chain)
        chain.open()
        for operator in chain.operators.values():
            drop_lost(operator.context.operator_state)
            if operator.context.state is not None:
                drop_lost(operator.context.state)
        return chain

    def _restore_all(self, chain: OperatorChain) -> None:
        assignment = self._assignment
        chain.begin_step(assignment.version)
        for operator in chain.operators.values():
            self._restore(operator)
        if assignment.volatile:
            _, ended, valves, known = decode_value(assignment.volatile)
            chain.resume(known)
            statuses = self._sent_statuses()
            for edge, valve in valves.items():
                self._entries[edge].valve.resume(valve, statuses[self._entries[edge]])
            self._ended |= ended
            self._gate.begin_step(self._ended)

    def _sent_statuses(self) -> dict[Entry, dict[Channel, tuple[int, bool]]]:
        """The statuses of channels, by the entry that they come in; those that have ended count as ended."""
        statuses: dict[Entry, dict[Channel, tuple[int, bool]]] = {entry: {} for entry in self._entries.values()}
        for edge, sender in chain_of.from_iterable(self._gate.channels.values()):
            if edge in self._assignment.statuses:
                status = self._assignment.statuses[edge][sender]
                if status is None:
                    self._ended.add((edge, sender))
                statuses[self._entries[edge]][edge, sender] = status or (MAX_WATERMARK, True)
        return statuses

    def _restore(self, operator: LiveOperator) -> None:
        assignment, context = self._assignment, operator.context
        if assignment.folder is None:
            return
        operator_id, about = context.config.operator_id, self._about(operator)
        all_series, series = assignment.series.get(operator_id, ()), self._own_series(operator_id)
        if operator_id in assignment.separate:
            all_series = all_series[self._subtask : self._subtask + 1]
        if operator_id in self._inherited:
            last = self._inherited.pop(operator_id).file
            repair(assignment.folder, series, context.state, context.operator_state, about, last)
        elif any(all_series):
            settings = self._job.settings
            place = settings.checkpoint_directory or settings.savepoint or ""
            state, flink, drops = (context.state, context.operator_state), settings.flink, settings.ignore_unclaimed
            load(assignment.folder, all_series, *state, about, flink=flink, drops=drops, place=place)
        if series:
            self._series[operator_id] = series
        elif any(all_series) and (context.state is not None or context.operator_state.is_there):
            self._taken.add(operator_id)
        context.time.watch_clock()

    def _own_series(self, operator_id: str) -> Series:
        """The files that this subtask continues; none if others have written them, or under another operator ID."""
        all_series = self._assignment.series.get(operator_id, ())
        series = all_series[self._subtask] if len(all_series) == self._vertex.parallelism else ()
        return series if series and series[0].operator_id == operator_id else ()

    def _context(self, config: OperatorConfig) -> OperatorContext:
        assignment = self._assignment
        context = OperatorContext(
            self._job,
            self._vertex,
            config,
            self._subtask,
            self._attempt,
            self._send,
            self._files,
            self._committables,
            version=assignment.version + 1,
            saves=assignment.saves,
            commits=assignment.commits,
            clock=self._clock,
            toggle=self._toggle,
            begin_round=lambda number: self._open().begin_round(number),
            look=lambda: self.look is not None and self.look(),
            tracked=assignment.folder is not None,
        )
        held = self._inherited.get(config.operator_id)
        if held is None:
            return context
        if held.file not in {file.name for file in self._own_series(config.operator_id)}:
            del self._inherited[config.operator_id]
            return context
        if held.keyed is not None:
            held.keyed.clock = None if self._job.settings.batch else self._clock
        context.state, context.operator_state = held.keyed, held.operator_state
        return context

    def _about(self, operator: LiveOperator) -> AboutOperator:
        config, place = operator.context.config, (self._subtask, self._vertex.parallelism)
        return AboutOperator(config.operator_id, config.name, config.uid, *place, config.max_parallelism)

    def _toggle(self, active: bool) -> None:
        """An input, or the source, has fallen idle or come back; the task is idle when all of them are."""
        active = active or any(entry.valve.active for entry in self._entries.values())
        if self._chain is not None:
            self._chain.status(active)

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

    def _step(self) -> Iterator[Row]:
        began = time.perf_counter()
        chain = self._open()
        if self._assignment.rows:
            yield from self.receive(self._assignment.rows)
        yield from self._work(chain)
        self._clock.fire()
        if self.finished:
            for entry in dict.fromkeys(self._entries.values()):
                entry.valve.end_all()
                yield from self._drain()
            chain.finish()
            if not self._assignment.only:  # else whoever reads them knows
                chain.end_channels()
            yield from self._drain()
        else:
            chain.end_step()
            yield from self._drain()
        self.spoken.hand_over()
        self._send(REPORT, dumps(self._reported(chain, began)))
        yield from self._drain()
        if self.finished:
            self.close()

    def _work(self, chain: OperatorChain) -> Iterator[Row]:
        if isinstance(chain.head, SourceOperator):
            yield from self._read(chain.head)
        else:
            yield from self._process(self._gate.drain(None if self._assignment.only else self._ended))
            if isinstance(chain.head, LiveHead) and not self._assignment.only:
                self.finished = self._assignment.last  # its tail ends after it
            else:
                channels = chain_of.from_iterable(self._gate.channels.values())
                self.finished = self._assignment.only or self._ended.issuperset(channels)

    def counters(self) -> tuple[SubtaskMetrics, ...]:
        """The counts of each operator in this step so far, or in the last one, in pre-order; nothing before the
        first row. For whoever runs the task, between two of its rows, or when it calls :attr:`look`."""
        if self._chain is None:
            return ()
        entries = set(self._entries.values())
        records, size = sum(entry.records for entry in entries), sum(entry.bytes for entry in entries)
        self._counted = counted = self._chain.counters(records, size)
        return tuple(map(difference, counted, self._measured))

    def close(self) -> None:
        """Release everything, once, though more could follow."""
        if self._disposed:
            return
        self._disposed = True
        self._gate.close()
        self._out.close()
        if self._chain is not None:
            self._chain.dispose()
        for operator in self._operators():
            if operator.context.state is not None:
                operator.context.state.dispose()

    def _read(self, head: SourceOperator) -> Iterator[Row]:
        only, reading = self._assignment.only, self._assignment.reading
        reading = everything(head.function, self._subtask, stamps=True) if only else reading
        assert reading is not None, "a source knows what to read"
        if self._batches is not None:
            head.read(self._batches)
        if reading.idle is not None:
            self._toggle(not reading.idle)
        for _ in head.step(reading, self._backlog):
            yield from self._drain()
        self.finished = reading.drain or (reading.last and head.reader.exhausted)

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

    def _reported(self, chain: OperatorChain, began: float) -> StepReport:
        task = self._report()
        self._files.clear()
        self._committables.clear()
        reader = chain.head.reader if isinstance(chain.head, SourceOperator) else None
        loops = bool(self._vertex.inputs) and self._vertex.level == 0  # signals may be on their way back to its head
        entries = {entry: edge for edge, entry in self._entries.items()}
        valves = {edge: entry.valve.volatile(by_senders=not loops) for entry, edge in entries.items()}
        contexts = [operator.context for operator in chain.operators.values()]
        states = {context.config.operator_id: context.state for context in contexts if context.state is not None}
        notes = {id_: {note: 0} for id_, state in states.items() if (note := state.other_keys())}
        full = {context.config.operator_id for context in contexts if context.operator_state.has_elements}
        if not self._assignment.only:
            ended = self._ended if loops else set[Channel]()
            self.volatile = dumps((os.urandom(8), ended, valves, chain.volatile()))  # no two are the same
        return StepReport(
            task=task,
            version=self._assignment.version + 1,
            series=self._saved(chain),
            volatile=self.volatile,
            positions={} if reader is None else reader.positions,
            ended=() if reader is None else tuple(reader.ended),
            finished=self.finished,
            timer=self._clock.next_due(),
            ticks=any(operator.ticks for operator in chain.operators.values()),
            keys={id_: size for id_, state in states.items() if (size := state.size())},
            millis=(time.perf_counter() - began) * 1000,
            empty=tuple(id_ for id_, state in states.items() if state.is_empty() and id_ not in full),
            notes=notes,
            lists=tuple(context.config.operator_id for context in contexts if context.operator_state.is_there),
            statuses={edge: (status.watermark, status.active) for edge, status in chain.statuses().items()},
        )

    def _saved(self, chain: OperatorChain) -> dict[str, Series]:
        """The files with the state, which is written if this step is one for that, or the last one."""
        folder = self._assignment.folder
        if folder is None:
            return {}
        if not (self._assignment.saves or self.finished):
            return dict(self._series)
        for operator in chain.operators.values():
            context, about = operator.context, self._about(operator)
            before = self._series.get(about.operator_id, ())
            version, taken = self._assignment.version + 1, about.operator_id in self._taken
            after = save(folder, context.state, context.operator_state, about, before, version, taken)
            if after:
                self._series[about.operator_id] = after
        self._taken.clear()
        return dict(self._series)


def _notes(operator: LiveOperator) -> tuple[str, dict[str, int]]:
    context = operator.context
    keyed = {} if context.state is None else {**context.state.notes, **unread(context.state)}
    return context.config.operator_id, {**context.operator_state.notes, **keyed}
