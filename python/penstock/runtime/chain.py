"""OperatorChain: the operators of a vertex, connected and running in one subtask.

Built from the tail to the head, so that every operator finds its outputs ready. Order of life, as in Flink: *open* goes
depth first along the outputs in edge order, each operator after everything below it; *end of input* and *close* go in
exactly the reverse of that order, so what an operator emits there still reaches the operators below it.

Source of the semantics: ``OperatorChain`` and ``StreamTask`` (Flink 1.11). Cost: O(operators + edges); no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from penstock.metrics.results import SubtaskMetrics
from penstock.runtime.codec import copier, decode_value
from penstock.runtime.config import ChainedOutput, OperatorConfig, VertexConfig
from penstock.runtime.context import OperatorContext
from penstock.runtime.exchange import Emit
from penstock.runtime.operators.base import LiveOperator, StreamOperator
from penstock.runtime.outputs import Collector, Output, copying
from penstock.runtime.signals import Advance
from penstock.runtime.writer import RecordWriter

MakeContext = Callable[[OperatorConfig], OperatorContext]


class OperatorChain:
    """The chain of one subtask.

    Args:
        vertex: its descriptor.
        subtask: index from 0.
        make_context: gives each operator its context.
        emit: takes the rows of the exchange.

    Attributes:
        head: the first operator.
    """

    def __init__(self, vertex: VertexConfig, subtask: int, make_context: MakeContext, emit: Emit) -> None:
        self._vertex = vertex
        self._subtask = subtask
        self._emit = emit
        self._writers: list[RecordWriter] = []
        self._operators: dict[int, LiveOperator] = {}
        self._order = opening_order(vertex.operators)
        for position in self._order:
            self._operators[position] = self._build(vertex.operators[position], make_context)
        self.head = self._operators[0]

    def _build(self, config: OperatorConfig, make_context: MakeContext) -> LiveOperator:
        context = make_context(config)
        main: list[Collector] = []
        sides: dict[str, list[Collector]] = {}
        clocks: list[Advance] = []
        try:
            operator: StreamOperator = decode_value(config.operator)
            for output in config.network:
                writer = RecordWriter(
                    output, self._vertex.parallelism, self._subtask, self._emit, context.fail, context.job.exchange
                )
                self._writers.append(writer)
                _targets(output.side_tag, main, sides).append(writer.write)
                clocks.append(writer.watermark)
            for link, copied in _copied(config, operator.keeps_output, context.job.reuses_objects):
                target = self._operators[link.position].input(link.input)
                copy = copier(link.record_type) if copied else None
                _targets(link.side_tag, main, sides).append(copying(target, copy, context.fail) if copy else target)
                clocks.append(self._operators[link.position].watermark(link.input))
            return operator.build(context, Output(main, sides, clocks))
        except Exception as error:
            raise context.fail(error) from error

    def open(self) -> None:
        """Open all operators, the tail first."""
        for position in self._order:
            self._operators[position].open()

    def status(self, active: bool) -> None:
        """The task has fallen idle, or has come back: tell the tasks after it."""
        for writer in self._writers:
            writer.status(active)

    def send(self) -> None:
        """Send what the writers hold; more may follow."""
        for writer in self._writers:
            writer.send()

    def begin_round(self, number: int) -> None:
        """What leaves the task from here on is of another round."""
        for writer in self._writers:
            writer.begin_round(number)

    def finish(self) -> None:
        """End of input: end and close all operators, the head first, then send what the writers still hold."""
        for position in reversed(self._order):
            operator = self._operators[position]
            operator.end_input()
            operator.call(operator.context.metrics.sample)
            operator.close()
        for writer in self._writers:
            writer.finish()

    def dispose(self) -> None:
        """Release everything, after success or failure, in the order of opening."""
        for position in self._order:
            self._operators[position].dispose()

    def counters(self, records_read: int) -> tuple[SubtaskMetrics, ...]:
        """What each operator has counted, after the last record."""
        records_in = {0: records_read}
        result = []
        for position, config in enumerate(self._vertex.operators):
            operator = self._operators[position]
            read = records_in[position]
            main, sides = operator.main_records(read), operator.output.side_records
            for link in config.chained:
                records_in[link.position] = main if link.side_tag is None else sides.get(link.side_tag, 0)
            written = main + sum(sides.values())
            result.append(operator.measured(read, written))
        return tuple(result)


def _copied(config: OperatorConfig, keeps_output: bool, reuse: bool) -> Iterator[tuple[ChainedOutput, bool]]:
    """The outputs inside the chain, and whether each gets copies: where another reader could see a record change.

    A single reader needs none, and the last of several is given the object itself, when all read the same output.
    """
    links = config.chained
    one_output = len({link.side_tag for link in links}) <= 1
    for index, link in enumerate(links):
        alone = one_output and index == len(links) - 1
        yield link, not reuse and (keeps_output or not alone)


def _targets(tag: str | None, main: list[Collector], sides: dict[str, list[Collector]]) -> list[Collector]:
    return main if tag is None else sides.setdefault(tag, [])


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
