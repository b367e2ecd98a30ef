"""One body holds both forms of a chain, and plain Python, to the same behaviour on random chains: every call and its
order, what it was given, counts, lifecycle, watermarks, failures."""

from __future__ import annotations

import copy
import random
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.common import OutputTag, WatermarkStrategy
from penstock.errors import JobExecutionError
from penstock.local import LocalExecutor
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.process import ProcessOperator
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from tests.generator import programs as generated
from tests.generator.choices import SeededChoices
from tests.generator.programs import Profile, draw
from tests.job.programs import Program

TRACE: list[str] = []
SIDE = OutputTag("side")
MIN, MAX = -(2**63), 2**63 - 1
KINDS = ("map", "filter", "flat", "process", "stamp", "sink", "timed sink")
CHAIN = Profile(
    KINDS,
    lambda choices, number: generated.Node("source", generated.SOURCE),
    sources=(1, 1),
    operators=(1, 12),
    amounts=(0, 11),
    reach=3,
    ends=frozenset({"sink", "timed sink"}),
)


class Failure(Exception):
    """What a function throws that was told to."""


class Traced:
    def __init__(self, kind: str, name: str, number: int, fails: Any) -> None:
        self.kind, self.name, self.number, self.fails = kind, name, number, fails
        self.seen = 0
        if kind == "sink":
            self.invoke = self.take
        elif kind == "timed sink":
            self.invoke = self.take_timed

    def note(self, what: str, at: Any = None) -> None:
        TRACE.append(f"{self.name} {what}")
        if self.fails is not None and self.fails == at:
            raise Failure(f"{self.name} at {at}")

    def open(self, runtime_context: Any) -> None:
        self.note("open", "open")

    def close(self) -> None:
        self.note("close", "close")

    def sees(self, record: list[Any], *more: Any) -> None:
        self.seen += 1
        self.note(f"{record} {more}", self.seen)

    def map(self, record: list[Any]) -> list[Any]:
        self.sees(record)
        if self.number % 3:
            record.append(self.name)
        return record if self.number % 2 else [*record]

    def filter(self, record: list[Any]) -> bool:
        self.sees(record)
        record.append(self.name)
        return (record[0] + self.number) % 3 != 0

    def flat_map(self, record: list[Any]) -> Any:
        self.sees(record)
        records = ([*record, self.name, i] for i in range((record[0] + self.number) % 4))
        return list(records) if self.number % 3 == 0 else self._pausing(records)

    def _pausing(self, records: Iterator[Any]) -> Iterator[Any]:
        for record in records:
            yield record
            self.note("after")

    def process_element(self, record: list[Any], ctx: Any) -> Any:
        self.sees(record, ctx.timestamp(), ctx.timer_service().current_watermark())
        if self.number % 2:
            yield SIDE, [*record, self.name, "side"]
            self.note("between")
        if record[0] % 3:
            yield [*record, self.name]

    def extract_timestamp(self, record: list[Any], timestamp: int | None) -> int:
        self.sees(record, timestamp)
        return record[0] * 10 + self.number

    def on_event(self, record: list[Any], timestamp: int, output: Any) -> None:
        self.note(f"{record} event {timestamp}")
        if record[0] % 2:
            output.emit_watermark(timestamp - 5)

    def on_periodic_emit(self, output: Any) -> None:
        pass

    def take(self, record: list[Any]) -> None:
        self.sees(record)

    def take_timed(self, record: list[Any], context: Any) -> None:
        self.sees(record, context.timestamp())


class TracedSource:
    """Emits numbers, with and without time, watermarks between them."""

    def __init__(self, name: str, items: list[tuple[str, int]], fails: Any) -> None:
        self.name, self.items, self.fails = name, items, fails

    def open(self, runtime_context: Any) -> None:
        TRACE.append(f"{self.name} open")

    def run(self, ctx: Any) -> None:
        for number, (what, value) in enumerate(self.items):
            if number == self.fails:
                raise Failure(f"{self.name} at {number}")
            if what == "watermark":
                ctx.emit_watermark(value)
            elif what == "timed":
                ctx.collect_with_timestamp([value], value)
            else:
                ctx.collect([value])

    def close(self) -> None:
        TRACE.append(f"{self.name} close")


@dataclass
class Node:
    name: str
    kind: str
    number: int
    fails: Any = None
    side: bool = False
    readers: list[Node] = field(default_factory=list)


@dataclass
class Chain:
    """A source and the functions behind it, all in one chain."""

    items: list[tuple[str, int]]
    fails: Any
    readers: list[Node]
    reuse: bool

    def nodes(self) -> Iterator[tuple[str, Node]]:
        """All functions with the name of the one before, each after it."""
        stack = [("source", node) for node in reversed(self.readers)]
        while stack:
            before, node = stack.pop()
            yield before, node
            stack += [(node.name, reader) for reader in reversed(node.readers)]


def random_chain(seed: int, failing: bool = False) -> Chain:
    """A chain of up to twelve functions; a failing one throws somewhere, unless no record comes so far."""
    draws = random.Random(seed)
    items = [(draws.choice(["plain", "timed", "timed", "watermark"]), draws.randrange(20)) for _ in range(12)]
    nodes: dict[str, Node] = {}
    roots: list[Node] = []
    for drawn in draw(SeededChoices(draws), CHAIN).nodes[1:]:
        parent = nodes.get(drawn.inputs[0])
        node = nodes[drawn.label] = Node(drawn.label, drawn.kind, drawn.amount)
        node.side = parent is not None and parent.kind == "process" and draws.random() < 0.5
        (roots if parent is None else parent.readers).append(node)
    fails = None
    if failing:
        where = draws.choice([None, *nodes.values()])
        if where is None:
            fails = draws.randrange(len(items))
        else:
            where.fails = draws.choice(["open", "close", 1, 2, 5])
    return Chain(items, fails, roots, reuse=draws.random() < 0.3)


def program(chain: Chain, form: str, p: int = 1) -> Program:
    result = Program(settings={"penstock.runtime.form": form, "pipeline.object-reuse": str(chain.reuse).lower()})
    by_name = {"source": result.add(StreamSource(TracedSource("source", chain.items, chain.fails)), p=p, name="source")}
    for before, node in chain.nodes():
        tag = SIDE.tag_id if node.side else None
        by_name[node.name] = result.add(_operator(node), by_name[before], name=node.name, p=p, tag=tag)
    return result


def _operator(node: Node) -> Any:
    function = Traced(node.kind, node.name, node.number, node.fails)
    if node.kind == "stamp":
        strategy = WatermarkStrategy.for_generator(lambda: function).with_timestamp_assigner(function)
        return TimestampsAndWatermarks(strategy)
    kinds = {"map": StreamMap, "filter": StreamFilter, "flat": StreamFlatMap, "process": ProcessOperator}
    return kinds.get(node.kind, StreamSink)(function)


class Plain:
    """Runs a chain: what should happen, if nothing fails."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.functions = {node.name: Traced(node.kind, node.name, node.number, node.fails) for _, node in chain.nodes()}
        self.watermarks = dict.fromkeys(self.functions, MIN)
        self.records_in = dict.fromkeys(["source", *self.functions], 0)
        self.records_out = dict(self.records_in)

    def run(self) -> None:
        source, readers = TracedSource("source", self.chain.items, None), self.chain.readers
        self._open(readers)
        source.open(None)
        for what, value in self.chain.items:
            if what == "watermark":
                self._watermark(readers, value)
            else:
                self.records_out["source"] += 1
                self._emit(readers, [value], value if what == "timed" else None, False)
        source.close()
        self._close(readers)

    def _open(self, nodes: list[Node]) -> None:
        for node in nodes:
            self._open(node.readers)
            if node.kind != "stamp":
                self.functions[node.name].open(None)

    def _close(self, nodes: list[Node]) -> None:
        for node in reversed(nodes):
            if node.kind != "stamp":
                self.functions[node.name].close()
            self._close(node.readers)

    def _emit(self, readers: list[Node], record: list[Any], time: int | None, side: bool) -> None:
        """Hand a record to readers: to each its own, unless they are to share."""
        for node in readers:
            if node.side == side:
                self.records_in[node.name] += 1
                self._call(node, record if self.chain.reuse else copy.deepcopy(record), time)

    def _call(self, node: Node, record: list[Any], time: int | None) -> None:
        function = self.functions[node.name]
        if "sink" in node.kind:
            function.take_timed(record, _Context(time, MIN)) if "timed" in node.kind else function.take(record)
        elif node.kind == "map":
            self._out(node, function.map(record), time)
        elif node.kind == "filter":
            if function.filter(record):
                self._out(node, record, time)
        elif node.kind == "flat":
            for output in function.flat_map(record):
                self._out(node, output, time)
        elif node.kind == "process":
            for output in function.process_element(record, _Context(time, self.watermarks[node.name])):
                tagged = isinstance(output, tuple)
                self._out(node, output[1] if tagged else output, time, tagged)
        else:
            time = function.extract_timestamp(record, time)
            self._out(node, record, time)
            function.on_event(record, time, _Emitter(self, node))

    def _out(self, node: Node, record: list[Any], time: int | None, side: bool = False) -> None:
        self.records_out[node.name] += 1
        self._emit(node.readers, record, time, side)

    def _watermark(self, readers: list[Node], watermark: int) -> None:
        for node in readers:
            self.watermarks[node.name] = watermark
            if node.kind != "stamp":
                self._watermark(node.readers, watermark)


@dataclass
class _Context:
    time: int | None
    watermark: int

    def timestamp(self) -> int | None:
        return self.time

    def timer_service(self) -> _Context:
        return self

    def current_watermark(self) -> int:
        return self.watermark


@dataclass
class _Emitter:
    """Where a generator's watermarks go, if they grow."""

    plain: Plain
    node: Node

    def emit_watermark(self, watermark: int) -> None:
        last = self.plain.functions[self.node.name]
        if watermark > getattr(last, "emitted", MIN):
            last.emitted = watermark
            self.plain._watermark(self.node.readers, watermark)


SEEDS = range(150)


def ran(chain, form, p=1):
    """All that can be observed of a run."""
    TRACE.clear()
    executor, failure = LocalExecutor(), None
    try:
        executor.execute(program(chain, form, p).pipeline())
    except JobExecutionError as error:
        cause = error.__cause__
        frames = [
            (frame.name, frame.line)
            for frame in traceback.extract_tb(cause.__traceback__)
            if frame.filename == __file__
        ]
        failure = error.operator, error.task, error.subtask, error.attempt, repr(cause), frames, shown(str(error))
    return list(TRACE), failure, [(report.task, report.counters) for report in executor.reports]


def shown(text):
    """What an error shows of the user's code."""
    return [line for line in text.splitlines() if "self.note" in line or "Failure" in line]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chain_does_what_plain_python_does(seed):
    chain = random_chain(seed)
    plain = Plain(chain)
    TRACE.clear()
    plain.run()
    expected = list(TRACE)
    for form in ("fused", "listed"):
        trace, failure, reports = ran(chain, form)
        assert (trace, failure) == (expected, None), form
        counts = {counter.name: counter for _, counters in reports for counter in counters}
        assert {name: counter.records_in for name, counter in counts.items()} == plain.records_in, form
        assert {name: counter.records_out for name, counter in counts.items()} == plain.records_out, form


@pytest.mark.slow
@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_forms_are_the_same(seed, failing):
    chain = random_chain(seed, failing)
    assert ran(chain, "fused", 2) == ran(chain, "listed", 2)


def test_chains_have_everything():
    nodes = [node for seed in SEEDS for _, node in random_chain(seed).nodes()]
    assert {node.kind for node in nodes} == set(KINDS)
    assert any(node.side for node in nodes)
    failures = [ran(random_chain(seed, failing=True), "fused")[1] for seed in SEEDS]
    assert sum(failure is not None for failure in failures) > len(SEEDS) // 3
    assert any(len({n.side for n in node.readers}) == 2 for node in nodes)
