"""Programs of every shape, at any parallelism: what the tests of both executors and of the matrix run."""

from __future__ import annotations

from collections.abc import Callable

from penstock.common import OutputTag, Types
from penstock.runtime.aggregators import SumAggregator
from penstock.runtime.io.sinks import PrintSink
from penstock.runtime.io.sources import SequenceSource
from penstock.runtime.keys.partition import CustomPartition, KeyPartition
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.process import ProcessOperator
from penstock.runtime.operators.reduce import GroupedReduce
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import GlobalWindows
from penstock.runtime.windows.evictors import CountEvictor
from penstock.runtime.windows.functions import ReduceWindow
from penstock.runtime.windows.triggers import CountTrigger
from tests.job.programs import Program
from tests.job.test_programs import BY_WORD, PAIR, words

EVEN = OutputTag("even")


def word_count(p: int = 3, chaining: bool = True, scale: int | None = None) -> Program:
    text = words(3000)
    program = Program(chaining=chaining)
    source = program.source([" ".join(text[i : i + 7]) for i in range(0, len(text), 7)], type=Types.STRING())
    split = program.add(StreamFlatMap(str.split), source, type=Types.STRING())
    ones = program.add(StreamMap(lambda w: (w, 1)), split, p=scale or 4, type=PAIR)
    window = WindowOperator(GlobalWindows(), CountTrigger(5), CountEvictor(10), ReduceWindow(SumAggregator(1)))
    counts = program.add(
        window.keyed_by(BY_WORD), ones, p=scale or p, partitioner="HASH", spec=BY_WORD, type=PAIR, name="count"
    )
    program.add(StreamSink(PrintSink()), counts, p=scale or p)
    program.collect(counts)
    return program


def every_shape(chaining: bool = True, scale: int | None = None) -> Program:
    """A diamond, a self union, side outputs, every partitioner, sinks at different levels, every parallelism."""

    def split(value, ctx):
        yield value
        if value % 2 == 0:
            yield EVEN, (value, str(value))

    class Numbers:
        def run(self, ctx):
            for i in range(3000):
                ctx.collect_with_timestamp(i, i)

    program = Program(chaining=chaining)
    first = program.add(StreamSource(SequenceSource(0, 999)), p=scale or 2)
    second = program.add(StreamSource(Numbers()))
    process = program.add(ProcessOperator(split), first, p=scale or 2)
    program.collect(program.add(StreamMap(lambda pair: pair), process, tag="even", p=scale or 3), id="side")
    key = KeyPartition(lambda x: x % 10)
    reduce = GroupedReduce(lambda a, b: a + b).keyed_by(key)
    total = program.add(reduce, process, p=scale or 3, partitioner="HASH", spec=key)
    program.collect(total, id="total")
    custom = CustomPartition(lambda k, n: k % n, lambda x: x)
    joined = program.add(
        StreamMap(lambda x: x),
        {"source": second, "partitioner": "SHUFFLE"},
        {"source": total, "partitioner": "REBALANCE"},
        first,
        p=scale or 4,
    )
    program.collect(
        program.add(StreamMap(lambda x: x), joined, p=scale or 2, partitioner="CUSTOM", spec=custom), id="joined"
    )
    broadcast = program.add(StreamFilter(lambda x: x < 5), second, p=3, partitioner="BROADCAST")
    rescaled = program.add(StreamMap(lambda x: (x, "r")), broadcast, p=scale or 2, partitioner="RESCALE")
    program.collect(rescaled, id="rescaled")
    program.collect(program.add(StreamMap(str), second, second, p=1, partitioner="GLOBAL"), id="self")
    program.collect(second, id="source")
    return program


SHAPES: dict[str, Callable[..., Program]] = {"word count": word_count, "everything": every_shape}
"""Makers by name: of the chaining, and of the parallelism of operators that have more than one subtask."""
