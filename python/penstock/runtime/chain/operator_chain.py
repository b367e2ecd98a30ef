"""OperatorChain: the operators of a vertex, connected and running in one subtask.

Built from the tail to the head, so that every operator finds its outputs ready. Order of life, as in Flink: *open* goes
depth first along the outputs in edge order, each operator after everything below it; *end of input* and *close* go in
exactly the reverse of that order, so what an operator emits there still reaches the operators below it.

Source of the semantics: ``OperatorChain`` and ``StreamTask`` (Flink 1.11). Cost: O(operators + edges); no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random

from penstock.metrics.results import SubtaskMetrics
from penstock.runtime.buffers.codec import copier, decode_value
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.entry import Entry, Fused, Listed, Native
from penstock.runtime.chain.fusion import Fusion
from penstock.runtime.chain.operator import LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import (
    ChainingOutput,
    Copy,
    CopyingChainingOutput,
    CountingOutput,
    Output,
    RecordWriterOutput,
    StreamStatus,
    Target,
    Writer,
    joined,
)
from penstock.runtime.config.options import FUSED
from penstock.runtime.config.tasks import ChainedOutput, OperatorConfig, VertexConfig
from penstock.runtime.exchange.gate import Channel, Emit
from penstock.runtime.exchange.selectors import seed_of
from penstock.runtime.exchange.sorted_writer import SortedWriter
from penstock.runtime.exchange.writer import RecordWriter

MakeContext = Callable[[OperatorConfig], OperatorContext]


class OperatorChain:
    """The chain of one subtask.

    Args:
        vertex: its descriptor.
        subtask: index from 0.
        make_context: gives each operator its context.
        emit: takes the rows of the exchange.

    Attributes:
        form: ``fused`` or ``listed``.
        head: the first operator.
        operators: all of them in pre-order, the head first.
        outputs: those that leave the chain, in the order of the operators that write to them from the tail.
        round: of what leaves the task.
    """

    def __init__(self, vertex: VertexConfig, subtask: int, make_context: MakeContext, emit: Emit) -> None:
        self._vertex = vertex
        self._subtask = subtask
        self._emit = emit
        self._status = StreamStatus()
        self.round = 0
        self._operators: dict[int, LiveOperator] = {}
        self._order = opening_order(vertex.operators)
        contexts = [make_context(config) for config in vertex.operators]
        job = contexts[0].job
        self.form = job.settings.form
        self._options = job.exchange
        self.outputs: list[RecordWriterOutput] = []
        self._writers: list[list[Writer]] = [[] for _ in contexts]
        specs = [_operator(context) for context in contexts]
        gathers, functions = not any(spec.toggles for spec in specs), self._options.functions
        self._fusion = Fusion(gathers=gathers, functions=functions) if self.form == FUSED else None
        for position in self._order:
            try:
                self._operators[position] = self._build(position, specs[position], contexts[position])
            except Exception as error:
                raise contexts[position].fail(error) from error
        self.operators = [self._operators[position] for position in range(len(specs))]
        self.head = self._operators[0]

    def _build(self, position: int, spec: StreamOperator, context: OperatorContext) -> LiveOperator:
        """An operator whose outputs lead to finished ones."""
        targets = self._targets(position, spec, context)
        draw = Random(seed_of("latency", context.config.operator_id, self._subtask)).random
        inner = joined([self._output(target, context) for target in targets], draw)
        fusion = self._fusion
        if fusion is None:
            return spec.build(context, CountingOutput(inner))
        fusion.targets[position] = targets
        operator = spec.build(context, fusion.output(position, inner))
        fusion.add(position, operator)
        return operator

    def _targets(self, position: int, spec: StreamOperator, context: OperatorContext) -> list[Target]:
        """The outputs of an operator: first those that leave the chain, then those inside it, each in edge order."""
        config, result = context.config, []
        writers = self._writers[position]
        for network in config.network:
            writer: Writer = (SortedWriter if network.sorted else RecordWriter)(
                network, self._vertex.parallelism, self._subtask, self._emit, context.fail, self._options
            )
            writers.append(writer)
            result.append(Target(network.side_tag, writer))
        copies = _copies(config, spec.keeps_output, context.job.settings.object_reuse)
        for link, copy in zip(config.chained, copies, strict=True):
            result.append(Target(link.side_tag, None, link.position, link.input, copy))
        return result

    def _output(self, target: Target, context: OperatorContext) -> Output:
        """The object of the list form; the fused form needs it for all but records."""
        if target.writer is not None:
            output = RecordWriterOutput(target.writer, target.tag)
            self.outputs.append(output)
            return output
        next_one = self._operators[target.position]
        if target.copy is None:
            chaining = ChainingOutput(next_one, target.number, target.tag, self._status)
        else:
            chaining = CopyingChainingOutput(
                next_one, target.number, target.tag, self._status, target.copy, context.fail
            )
        return chaining if self._fusion is not None else chaining.connect()

    def entry(
        self, number: int, channels: Iterable[Channel], toggle: Callable[[bool], None], backlog: Callable[[], bool]
    ) -> Entry:
        """The way into an input of the head. To be called once for each, as it may hold state back from the tables.

        Args:
            number: of the input.
            channels, toggle, backlog: as for :class:`Entry`.
        """
        return Entry(self.head, number, self._way(number), channels, toggle, backlog, self._options.functions)

    def _way(self, number: int) -> Listed | Fused:
        functions = self._options.functions
        if self._fusion is None:
            return Listed(self.head.input(number))
        batch = None if functions is None else self.head.batch(functions)
        return Fused(self._fusion, number) if batch is None else Native(self._fusion, self.head, batch)

    @property
    def active(self) -> bool:
        """Whether the task is."""
        return self._status.active

    def open(self) -> None:
        """Open all operators, the tail first."""
        for position in self._order:
            self._operators[position].open()

    def status(self, active: bool) -> None:
        """The task has fallen idle, or has come back: tell the tasks after it."""
        self._status.active = active
        for output in self.outputs:
            output.writer.status(active)

    def send(self) -> None:
        """Send what the writers hold; more may follow."""
        for output in self.outputs:
            output.writer.send()

    def begin_round(self, number: int) -> None:
        """What leaves the task from here on is of another round."""
        self.round = number
        for output in self.outputs:
            output.writer.begin_round(number)

    def finish(self) -> None:
        """End of input: end and close all operators, the head first, then send what the writers still hold."""
        for position in reversed(self._order):
            operator = self._operators[position]
            operator.end_input()
            operator.call(operator.context.metrics.sample)
            operator.close()
        for output in self.outputs:
            output.writer.finish()

    def dispose(self) -> None:
        """Release everything, after success or failure, in the order of opening."""
        for position in self._order:
            self._operators[position].dispose()

    def counters(self, records_read: int, bytes_read: int) -> tuple[SubtaskMetrics, ...]:
        """What each operator has counted, after the last record."""
        records_in = {0: records_read}
        result = []
        for position, config in enumerate(self._vertex.operators):
            operator = self._operators[position]
            read = records_in[position]
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


def _operator(context: OperatorContext) -> StreamOperator:
    try:
        return decode_value(context.config.operator)
    except Exception as error:
        raise context.fail(error) from error


def _copies(config: OperatorConfig, keeps_output: bool, reuse: bool) -> list[Copy | None]:
    """For each output inside the chain, what makes copies, if another reader could see a record change.

    A single reader needs none, and the last of several is given the object itself, when all read the same output.
    """
    links = config.chained
    one_output = len({link.side_tag for link in links}) <= 1

    def copy(index: int, link: ChainedOutput) -> Copy | None:
        alone = one_output and index == len(links) - 1
        return None if reuse or (alone and not keeps_output) else copier(link.record_type)

    return [copy(index, link) for index, link in enumerate(links)]


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
