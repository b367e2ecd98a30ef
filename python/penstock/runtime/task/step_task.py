"""A subtask of a job: it takes the rows of a step, works them off, saves the changed state and reports.

Then it waits for the next step, if its process keeps it (:class:`Held`). Otherwise another object continues from the
report, in any process. Kept state may be some steps old: the logs that it missed are replayed. It is valid as long as
the file that it was built from is in the subtask's chain.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from penstock.metrics.results import SubtaskMetrics, difference
from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.buffers.row import Row
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import LiveOperator
from penstock.runtime.chain.operator_chain import OperatorChain
from penstock.runtime.checkpoint.operator_state import load, repair, save
from penstock.runtime.config.steps import Assignment, Chain, StepReport
from penstock.runtime.config.tasks import JobConfig, OperatorConfig, VertexConfig
from penstock.runtime.exchange.gate import DRIVER, ENDED, REPORT, Channel
from penstock.runtime.operators.iteration import LiveHead
from penstock.runtime.operators.source import SourceOperator
from penstock.runtime.operators.source_reader import everything
from penstock.runtime.state.class_changes import drop_lost
from penstock.runtime.state.evolution import unread
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import MEMORY_PER_BYTE, KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.task.task import Task


@dataclass
class Held:
    """State of an operator's subtask.

    Attributes:
        keyed: keyed state, or None.
        operator_state: the rest.
        file: name of the last file of the chain that it is at; "" for none.
    """

    keyed: KeyedState | None
    operator_state: OperatorState = field(default_factory=OperatorState)
    file: str = ""


class StepTask(Task):
    """A subtask in steps. Each begins by :meth:`begin`; then come :meth:`receive` and :meth:`finish`.

    Args:
        vertex, subtask, attempt, job: as for :class:`~.task.Task`.

    Attributes:
        volatile: what the last step has reported; who is given the same goes on where this object is.
        finished: whether it has done all it ever will.
    """

    def __init__(self, vertex: VertexConfig, subtask: int, attempt: int, job: JobConfig) -> None:
        super().__init__(vertex, subtask, attempt, job)
        self._ended: set[Channel] = set()
        self._assignment = Assignment(0)
        self._chains: dict[str, Chain] = {}
        self._measured: tuple[SubtaskMetrics | None, ...] = (None,) * len(vertex.operators)  # before this step
        self._counted = self._measured
        self.finished = False
        self._untouched = False  # opened, and in no step yet
        self._inherited: dict[str, Held] = {}
        self._taken: set[str] = set()  # operators whose state is in files of others, and is to be written anew
        self.volatile = b""

    def inherit(self, other: StepTask) -> None:
        """Take over the state of an object that has run this subtask before, and not later than the last step. What is
        missing is read. The other one is disposed of."""
        self._inherited = other.held()

    def held(self) -> dict[str, Held]:
        """Give up the state of all operators; the task is disposed of."""
        found: dict[str, Held] = {}
        operators = () if self._chain is None else self._chain.operators.values()
        for operator in operators:
            context = operator.context
            chain = self._chains.get(context.config.operator_id)
            if chain:
                found[context.config.operator_id] = Held(context.state, context.operator_state, chain[-1].name)
        self.close()
        for held in found.values():
            if held.keyed is not None:
                held.keyed.release()
        return found

    def bytes(self) -> int:
        """About how much memory its state takes."""
        operators = () if self._chain is None else self._chain.operators.values()
        states = {each.context.config.operator_id: each.context.state for each in operators}
        total = 0
        for operator_id, chain in self._chains.items():
            written, state = sum(file.bytes for file in chain), states.get(operator_id)
            total += MEMORY_PER_BYTE * written if state is None else state.memory(written)
        return total

    def begin(self, assignment: Assignment) -> None:
        """A step begins.

        Args:
            assignment: what it asks of the subtask; state and volatile data in it are for the first one only.
        """
        self._assignment = assignment
        self._measured = self._counted
        self._sequence = 0
        if self._chain is not None:
            if not self._untouched:
                self._chain.begin_step(assignment.version)
            for operator in self._chain.operators.values():
                context = operator.context
                context.version = assignment.version + 1
                context.saves, context.commits = assignment.saves, assignment.commits
        self._untouched = False
        self._gate.begin_step(self._ended)

    def receive(self, rows: Iterable[Row]) -> Iterator[Row]:
        return super().receive(self._open_channels(rows))

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

    def _opening(self) -> Iterator[Row]:
        """Open, and no more; what functions have sent meanwhile leaves in the first step."""
        self._open()
        self._untouched, self.volatile = True, self._assignment.volatile
        operators = self._open().operators.values()
        nothing = self._report(), self._assignment.version, {}, self.volatile, {}, (), False
        waits = self._clock.next_due(), any(operator.ticks for operator in operators)
        report = StepReport(*nothing, *waits, {}, notes=dict(map(_notes, operators)))
        yield Row(DRIVER, self._vertex.index, REPORT, self._subtask, 0, dumps(report))

    def _open(self) -> OperatorChain:
        opened = self._chain is not None
        chain = super()._open()
        for operator in () if opened else chain.operators.values():
            drop_lost(operator.context.operator_state)
            if operator.context.state is not None:
                drop_lost(operator.context.state)
        return chain

    def _begin_chain(self, chain: OperatorChain) -> None:
        """Take over what earlier steps have left."""
        assignment = self._assignment
        chain.begin_step(assignment.version)
        for operator in chain.operators.values():
            self._restore(operator)
        if assignment.volatile:
            _, ended, valves, known = decode_value(assignment.volatile)
            chain.resume(known)
            for edge, valve in valves.items():
                self._entries[edge].valve.resume(valve)
            self._ended |= ended
            self._gate.begin_step(ended)

    def _restore(self, operator: LiveOperator) -> None:
        assignment, context = self._assignment, operator.context
        if assignment.folder is None:
            return
        operator_id, about = context.config.operator_id, self._about(operator)
        chains, own = assignment.chains.get(operator_id, ()), self._own_chain(operator_id)
        if operator_id in self._inherited:
            last = self._inherited.pop(operator_id).file
            repair(assignment.folder, own, context.state, context.operator_state, about, last)
        elif any(chains):
            settings = self._job.settings
            place = settings.checkpoint_directory or settings.savepoint or ""
            load(
                assignment.folder,
                chains,
                context.state,
                context.operator_state,
                about,
                flink=settings.flink,
                drops=settings.ignore_unclaimed,
                place=place,
            )
        if own:
            self._chains[operator_id] = own
        elif any(chains) and (context.state is not None or context.operator_state.is_there):
            self._taken.add(operator_id)
        context.time.watch_clock()

    def _own_chain(self, operator_id: str) -> Chain:
        """The files that this subtask goes on with; none if others have written them, or under another operator ID."""
        chains = self._assignment.chains.get(operator_id, ())
        own = chains[self._subtask] if len(chains) == self._vertex.parallelism else ()
        return own if own and own[0].operator_id == operator_id else ()

    def _context(self, config: OperatorConfig) -> OperatorContext:
        assignment = self._assignment
        context = replace(
            super()._context(config),
            tracked=assignment.folder is not None,
            version=assignment.version + 1,
            saves=assignment.saves,
            commits=assignment.commits,
        )
        held = self._inherited.get(config.operator_id)
        if held is None:
            return context
        if held.file not in {file.name for file in self._own_chain(config.operator_id)}:
            del self._inherited[config.operator_id]
            return context
        if held.keyed is not None:
            held.keyed.clock = None if self._job.settings.batch else self._clock
        return replace(context, state=held.keyed, operator_state=held.operator_state)

    def _about(self, operator: LiveOperator) -> AboutOperator:
        config, vertex = operator.context.config, self._vertex
        return AboutOperator(
            config.operator_id, config.name, config.uid, self._subtask, vertex.parallelism, config.max_parallelism
        )

    def _step(self) -> Iterator[Row]:
        began = time.perf_counter()
        chain = self._open()
        if self._assignment.rows:
            yield from self.receive(self._assignment.rows)
        yield from self._work(chain)
        self._clock.fire()
        if self.finished:
            yield from self._finish(chain)
        else:
            chain.end_step()
            yield from self._drain()
        self.spoken.hand_over()
        self._send(REPORT, dumps(self._reported(chain, began)))
        yield from self._drain()
        if self.finished:
            self._dispose()

    def _work(self, chain: OperatorChain) -> Iterator[Row]:
        """Process what the step brings."""
        if isinstance(chain.head, SourceOperator):
            yield from self._read(chain.head)
        else:
            yield from self._process(self._gate.drain(None if self._assignment.only else self._ended))
            self.finished = self._has_ended(chain.head)

    def counters(self) -> tuple[SubtaskMetrics, ...]:
        """What the operators have counted in this step so far, or in the last one."""
        self._counted = counted = super().counters()
        return tuple(map(difference, counted, self._measured))

    def close(self) -> None:
        """Dispose of it, though more could follow, unless it has been."""
        self._dispose()

    def _has_ended(self, head: LiveOperator) -> bool:
        """Whether nothing is to come. The head of a loop is told so: its tail ends after it."""
        if self._assignment.only:
            return True
        return self._assignment.last if isinstance(head, LiveHead) else self._ended.issuperset(self.channels)

    def _read(self, head: SourceOperator) -> Iterator[Row]:
        only, reading = self._assignment.only, self._assignment.reading
        reading = everything(head.function, self._subtask, stamps=True) if only else reading
        assert reading is not None, "a source is told what to read"
        if self._given is not None:
            head.read(self._given)
        if reading.idle is not None:
            self._toggle(not reading.idle)
        for _ in head.step(reading, self._backlog):
            yield from self._drain()
        self.finished = reading.drain or (reading.last and head.reader.exhausted)

    def _finish(self, chain: OperatorChain) -> Iterator[Row]:
        for entry in dict.fromkeys(self._entries.values()):
            entry.valve.end_all()
            yield from self._drain()
        chain.finish()
        if not self._assignment.only:  # else whoever reads them knows
            chain.end_channels()
        yield from self._drain()

    def _reported(self, chain: OperatorChain, began: float) -> StepReport:
        task = self._report()
        self._files.clear()
        self._committables.clear()
        head = chain.head
        reader = head.reader if isinstance(head, SourceOperator) else None
        valves = {edge: entry.valve.volatile() for edge, entry in self._entries.items()}
        notes = dict(_late_notes(chain.operators.values()))
        if not self._assignment.only:
            self.volatile = dumps((os.urandom(8), self._ended, valves, chain.volatile()))  # no two are the same
        return StepReport(
            task=task,
            version=self._assignment.version + 1,
            chains=self._saved(chain),
            volatile=self.volatile,
            positions={} if reader is None else reader.positions,
            ended=() if reader is None else tuple(reader.ended),
            finished=self.finished,
            timer=self._clock.next_due(),
            ticks=any(operator.ticks for operator in chain.operators.values()),
            keys={id_: size for id_, size in map(_size, chain.operators.values()) if size},
            millis=(time.perf_counter() - began) * 1000,
            empty=tuple(each.context.config.operator_id for each in chain.operators.values() if _is_empty(each)),
            notes=notes,
        )

    def _saved(self, chain: OperatorChain) -> dict[str, Chain]:
        """The files with the state, which is written if this step is one for that, or the last one."""
        folder = self._assignment.folder
        if folder is None:
            return {}
        if not (self._assignment.saves or self.finished):
            return dict(self._chains)
        for operator in chain.operators.values():
            context, about = operator.context, self._about(operator)
            before = self._chains.get(about.operator_id, ())
            version, taken = self._assignment.version + 1, about.operator_id in self._taken
            after = save(folder, context.state, context.operator_state, about, before, version, taken)
            if after:
                self._chains[about.operator_id] = after
        self._taken.clear()
        return dict(self._chains)


def _size(operator: LiveOperator) -> tuple[str, int]:
    state = operator.context.state
    return operator.context.config.operator_id, 0 if state is None else state.size()


def _is_empty(operator: LiveOperator) -> bool:
    """Whether it is known that its state has nothing in it: what an operator without keyed state carries along is not
    looked at."""
    context = operator.context
    keyed = context.state
    return keyed is not None and keyed.is_empty() and not context.operator_state.has_elements


def _late_notes(operators: Iterable[LiveOperator]) -> Iterator[tuple[str, dict[str, int]]]:
    """What is seen of an operator's state only when records come."""
    for operator in operators:
        context = operator.context
        if context.state is not None and (note := context.state.other_keys()):
            yield context.config.operator_id, {note: 0}


def _notes(operator: LiveOperator) -> tuple[str, dict[str, int]]:
    """What has become of an operator's state."""
    context = operator.context
    keyed = {} if context.state is None else {**context.state.notes, **unread(context.state)}
    return context.config.operator_id, {**context.operator_state.notes, **keyed}
