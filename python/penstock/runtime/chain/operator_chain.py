"""OperatorChain: the operators of a vertex, connected and running in one subtask.

Built from the tail to the head, so that every operator finds its outputs ready. *Open* goes depth first along the
outputs in edge order, each operator after everything below it; *end of input* and *close* go in exactly the reverse of
that order, so what an operator emits there still reaches the operators below it. Source of the semantics:
``OperatorChain`` and ``StreamTask`` (Flink 1.11). Cost: O(operators + edges); no recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from random import Random
from typing import Any

from penstock.metrics.results import SubtaskMetrics
from penstock.runtime import native
from penstock.runtime.buffers.borders import crossing
from penstock.runtime.buffers.codec import copier, decode_value
from penstock.runtime.buffers.signals import ChannelStatus
from penstock.runtime.chain.beside import Beside
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.entry import Entry, Fused, Listed, Native, Valve, Whole
from penstock.runtime.chain.fusion import Fusion
from penstock.runtime.chain.operator import LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import (
    BroadcastingOutputCollector,
    ChainingOutput,
    Copy,
    CopyingChainingOutput,
    CountingOutput,
    Output,
    RecordWriterOutput,
    StreamStatus,
    Target,
)
from penstock.runtime.chain.segments import FusedOutput, segment_into
from penstock.runtime.config.tasks import OperatorConfig, VertexConfig
from penstock.runtime.exchange.gate import Channel, Emit
from penstock.runtime.exchange.selectors import seed_of
from penstock.runtime.exchange.sorted_writer import SortedWriter
from penstock.runtime.exchange.writer import RecordWriter, Sender, Writer

MakeContext = Callable[[OperatorConfig], OperatorContext]


class OperatorChain:
    """The chain of one subtask. ``operators`` are by position in pre-order, sorted in the order of opening; ``spec`` is
    what the head was built from; ``emit`` takes the rows of the exchange; ``round`` is that of what leaves the task."""

    def __init__(self, vertex: VertexConfig, subtask: int, make_context: MakeContext, emit: Emit) -> None:
        self._vertex = vertex
        self._subtask = subtask
        self._emit = emit
        self._status = StreamStatus()
        self.round = 0
        self.operators: dict[int, LiveOperator] = {}
        contexts = [make_context(config) for config in vertex.operators]
        self._settings = contexts[0].job.settings
        self._functions = native.functions(self._settings.native)
        self._writers: dict[int, list[Writer]] = {}
        self._entries: dict[int, Entry] = {}
        self._beside = [Beside(context) for context in contexts]  # what chooses channels, behind each operator
        specs: list[StreamOperator] = [context.call(decode_value, context.config.operator) for context in contexts]
        gathers, fused = not any(spec.toggles for spec in specs), self._settings.form == "fused"
        native_plane = self._settings.native_plane
        self._fusion = Fusion(gathers=gathers, functions=self._functions, native=native_plane) if fused else None
        for position in opening_order(vertex.operators):
            context = contexts[position]
            self.operators[position] = context.call(self._build, position, specs[position], context)
        self.head, self.spec = self.operators[0], specs[0]

    def _build(self, position: int, spec: StreamOperator, context: OperatorContext) -> LiveOperator:
        targets = self._targets(position, spec, context)
        draw = Random(seed_of("latency", context.config.operator_id, self._subtask)).random
        outputs = [self._output(target, context) for target in targets]
        inner = outputs[0] if len(outputs) == 1 else BroadcastingOutputCollector(outputs, draw)
        fusion = self._fusion
        if fusion is None:
            return spec.build(context, CountingOutput(inner))
        fusion.targets[position] = targets
        operator = spec.build(context, FusedOutput(inner, fusion, position))
        fusion.add(position, operator)
        return operator

    def _targets(self, position: int, spec: StreamOperator, context: OperatorContext) -> list[Target]:
        """The outputs of an operator: first those that leave the chain, then those inside it, each in edge order."""
        config, result = context.config, []
        writers = self._writers[position] = []
        sender = Sender(self._vertex.parallelism, self._subtask, self._emit, context.fail, self._settings)
        for network in config.network:
            writer = (SortedWriter if network.sorted else RecordWriter)(network, sender)
            writers.append(writer)
            self._beside[position].add(writer.partition, "behind")
            result.append(Target(network.side_tag, writer))
        copies = _copies(config, spec.keeps_output, self._settings.object_reuse)
        border = len(config.network) + len(config.chained) > 1 or spec.in_java
        for link, copy in zip(config.chained, copies, strict=True):
            cross = crossing(link.record_type, self._settings) if border or link.side_tag is not None else None
            copy = copy if cross is None else _crossed(cross, copy)
            result.append(Target(link.side_tag, None, link.position, link.input, copy, cross is not None))
        return result

    def _output(self, target: Target, context: OperatorContext) -> Output:
        """The object of the list form; the fused form needs it for all but records."""
        if target.writer is not None:
            return RecordWriterOutput(target.writer, target.tag)
        place = self.operators[target.position], target.number, target.tag, self._status
        copy = target.copy
        chaining = ChainingOutput(*place) if copy is None else CopyingChainingOutput(*place, copy, context.fail)
        return chaining if self._fusion is not None else chaining.connect()

    def entry(
        self, number: int, channels: Iterable[Channel], toggle: Callable[[bool], None], backlog: Callable[[], bool]
    ) -> Entry:
        """The way into an input of the head. To be called once for each, as it may hold state back from the tables.
        ``toggle`` takes whether the input is active, when that changes; ``backlog`` says whether rows wait that
        should leave the task."""
        way: Listed | Fused | Whole
        segment = None
        if self._fusion is None:
            way = Listed(self.head.input(number))
        else:
            segment = segment_into(self._fusion, number)
            if segment is not None and segment.flush is not None:  # it has the state
                way = Fused(self._fusion, number)
            elif (take := self.head.taker(number)) is not None:
                way = Whole(take, self.head.gathers)
            else:
                batch = None if self._functions is None else self.head.batch(self._functions)
                way = Fused(self._fusion, number) if batch is None else Native(self._fusion, self.head, batch)
        state = self.head.context.state
        if state is not None and (segment is None or segment.flush is None):
            state.bring_back()  # an earlier task has left its state in native code
        valve = Valve(channels, self.head.watermark(number), toggle)
        entry = Entry(way, segment, valve, self.head.latency, backlog, self._functions)
        self._entries[number] = entry
        return entry

    def _all_writers(self) -> Iterator[Writer]:
        """Those of the tail first."""
        return chain.from_iterable(self._writers.values())

    def open(self) -> None:
        """Open all operators, the tail first; what is behind one comes before it."""
        for position, operator in self.operators.items():
            self._beside[position].open()
            operator.open()
        if self._fusion is not None and any(operator.waits_for_open for operator in self.operators.values()):
            self._cut_again(self._fusion)

    def _cut_again(self, fusion: Fusion) -> None:
        """Make the native segments once more, as some functions have what they read only now. Those behind a head
        with keyed state stay as they are."""
        for operator in self.operators.values():
            operator.output.forget_columns()
        for number, entry in self._entries.items():
            if entry.segment is None or entry.segment.flush is None:
                entry.segment = segment_into(fusion, number)

    def status(self, active: bool) -> None:
        """The task is active, or idle: if that is new, tell the tasks after it."""
        if active is not self._status.active:
            self._status.active = active
            for writer in self._all_writers():
                writer.status(active)

    def send(self) -> None:
        for writer in self._all_writers():
            writer.send()

    def begin_round(self, number: int) -> None:
        for operator in reversed(self.operators.values()):
            operator.end_round()
        self.round = number
        for writer in self._all_writers():
            writer.begin_round(number)

    def begin_step(self, version: int) -> None:
        self.round = 0
        for writer in self._all_writers():
            writer.begin_step(version)

    def end_step(self) -> None:
        """End a step: have all operators do what they must, the head first, and send what the writers hold."""
        for operator in reversed(self.operators.values()):
            operator.end_step()
            operator.context.call(operator.context.metrics.sample)
        self.send()

    def end_channels(self) -> None:
        """After :meth:`finish` in a step: nothing more comes from here."""
        for writer in self._all_writers():
            writer.end_channels()

    def statuses(self) -> dict[int, ChannelStatus]:
        """The status of the channels of each edge that leaves the task."""
        return {edge: status for writer in self._all_writers() for edge, status in writer.statuses().items()}

    def volatile(self) -> tuple[Any, ...]:
        operators = {position: operator.volatile() for position, operator in self.operators.items()}
        return operators, [writer.volatile() for writer in self._all_writers()], self._status.active

    def resume(self, volatile: tuple[Any, ...]) -> None:
        operators, writers, self._status.active = volatile
        for position, operator in self.operators.items():
            operator.resume(operators[position])
        for writer, known in zip(self._all_writers(), writers, strict=True):
            writer.resume(known)

    def finish(self) -> None:
        """End of input: end and close all operators, the head first, then send what the writers still hold."""
        for position, operator in reversed(self.operators.items()):
            operator.end_input()
            operator.context.call(operator.context.metrics.sample)
            operator.close()
            self._beside[position].close()
        for writer in self._all_writers():
            writer.finish()

    def dispose(self) -> None:
        for position, operator in self.operators.items():
            operator.dispose()
            self._beside[position].dispose()

    def counters(self, records_read: int, bytes_read: int) -> tuple[SubtaskMetrics, ...]:
        records_in = {0: records_read}
        result = []
        for position, config in enumerate(self._vertex.operators):
            operator, read = self.operators[position], records_in[position]
            sides = operator.output.side_records
            main = operator.output.records if self._fusion is None else operator.emitted
            main = read if main is None else main
            for link in config.chained:
                records_in[link.position] = main if link.side_tag is None else sides.get(link.side_tag, 0)
            written = main + sum(sides.values())
            sent = sum(writer.bytes for writer in self._writers[position])
            result.append(replace(operator.measured(read, written), bytes_out=sent))
        result[0] = replace(result[0], bytes_in=bytes_read)
        return tuple(result)


def _copies(config: OperatorConfig, keeps_output: bool, reuse: bool) -> list[Copy | None]:
    """For each output inside the chain, what makes copies, if another reader could see a record change. The last reader
    is given the object itself, when all read the same output."""
    links = config.chained
    one_output = len({link.side_tag for link in links}) <= 1
    alone = len(links) - 1 if one_output and not keeps_output else None
    return [None if reuse or index == alone else copier(link.record_type) for index, link in enumerate(links)]


def _crossed(cross: Copy, copy: Copy | None) -> Copy:
    """A copy that is what PyFlink's functions get where they are not fused with the one before: from an output that
    several read, from a side output, from an operator in Java."""
    return cross if copy is None else lambda value: cross(copy(value))


def opening_order(operators: tuple[OperatorConfig, ...]) -> list[int]:
    """Positions in the order of opening: depth first along the outputs in edge order, an operator after all below
    it."""
    order: list[int] = []
    stack = [(0, False)]
    while stack:
        position, below_done = stack.pop()
        if below_done:
            order.append(position)
            continue
        stack.append((position, True))
        stack.extend((link.position, False) for link in reversed(operators[position].chained))
    return order
