"""Whole programs in this process, against plain Python."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import pytest

from penstock.common import OutputTag, Types
from penstock.local import LocalExecutor
from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.io.sinks import PrintSink
from penstock.runtime.io.sources import SequenceSource
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.keygroups import ChannelAssigner
from penstock.runtime.keys.partition import CustomPartition, KeyPartition
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.process import KeyedProcessOperator, ProcessOperator
from penstock.runtime.operators.reduce import GroupedReduce
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import GlobalWindows
from penstock.runtime.windows.evictors import CountEvictor
from penstock.runtime.windows.functions import ReduceWindow
from penstock.runtime.windows.triggers import CountTrigger, PurgingTrigger
from tests.job.programs import Program

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
BY_WORD = KeyPartition(lambda pair: pair[0], Types.STRING())


def run(program, executor=None):
    executor = executor or LocalExecutor()
    return executor.execute(program.pipeline()).collected, executor.reports


def words(n, seed=1):
    draw = random.Random(seed)
    return [f"w{draw.randrange(40)}" for _ in range(n)]


def count_windows(pairs, size, slide):
    """countWindow(size, slide).sum(1), as Java Flink does it, per key in order."""
    kept, since, out = defaultdict(list), Counter(), defaultdict(list)
    for word, n in pairs:
        kept[word].append(n)
        since[word] += 1
        if since[word] == slide:
            since[word] = 0
            kept[word] = kept[word][-size:]
            out[word].append((word, sum(kept[word])))
    return out


@pytest.mark.parametrize("p", [1, 2, 3, 5])
@pytest.mark.parametrize("chaining", [True, False])
def test_word_count(p, chaining, capsys):
    text = words(5000)
    program = Program(chaining=chaining)
    source = program.source([" ".join(text[i : i + 7]) for i in range(0, len(text), 7)], type=Types.STRING())
    split = program.add(StreamFlatMap(str.split), source, type=Types.STRING())
    ones = program.add(StreamMap(lambda w: (w, 1)), split, p=4, type=PAIR)
    window = WindowOperator(GlobalWindows(), CountTrigger(5), CountEvictor(10), ReduceWindow(SumAggregator(1)))
    counts = program.add(window.keyed_by(BY_WORD), ones, p=p, partitioner="HASH", spec=BY_WORD, type=PAIR)
    program.add(StreamSink(PrintSink()), counts, p=p)
    run(program)
    assign = ChannelAssigner(KeyHash(Types.STRING()), 128, p).assign
    expected = count_windows([(w, 1) for w in text], 10, 5)
    printed = defaultdict(list)
    for line in capsys.readouterr().out.splitlines():
        subtask, text = line.split("> ") if p > 1 else ("1", line)
        word, n = text.strip("()").split(",")
        assert int(subtask) == assign(word) + 1
        printed[word].append((word, int(n)))
    assert printed == expected
    assert len(printed) == 40


def test_print_is_ordered_by_sink_subtask_and_emission(capsys):
    program = Program()
    source = program.source(range(20))
    spread = program.add(StreamMap(lambda x: x), source, p=3, partitioner="REBALANCE")
    program.add(StreamSink(PrintSink("a")), spread, p=3)
    program.add(StreamSink(PrintSink()), source)
    run(program)
    lines = capsys.readouterr().out.splitlines()
    plain = [x for x in lines if ">" not in x]
    marked = [x for x in lines if ">" in x]
    assert plain == [str(x) for x in range(20)]
    assert [x.split("> ")[0] for x in marked] == sorted(x.split("> ")[0] for x in marked)
    for n in "123":
        values = [int(x.split("> ")[1]) for x in marked if x.startswith(f"a:{n}>")]
        assert values == sorted(values)
        assert values


@pytest.mark.parametrize("p", [1, 3])
def test_rolling_aggregates(p):
    records = [("a", 3, 10), ("b", 1, 20), ("a", 1, 30), ("a", 5, 40), ("b", 1, 50), ("a", 1, 60), ("a", 5, 70)]
    key = KeyPartition(lambda r: r[0], Types.STRING())
    expected = {
        "sum": [("a", 3, 10), ("a", 4, 10), ("a", 9, 10), ("a", 10, 10), ("a", 15, 10)],
        "min": [("a", 3, 10), ("a", 1, 10), ("a", 1, 10), ("a", 1, 10), ("a", 1, 10)],
        "max": [("a", 3, 10), ("a", 3, 10), ("a", 5, 10), ("a", 5, 10), ("a", 5, 10)],
        "min_by": [("a", 3, 10), ("a", 1, 30), ("a", 1, 30), ("a", 1, 30), ("a", 1, 30)],
        "min_by_last": [("a", 3, 10), ("a", 1, 30), ("a", 1, 30), ("a", 1, 60), ("a", 1, 60)],
        "max_by": [("a", 3, 10), ("a", 3, 10), ("a", 5, 40), ("a", 5, 40), ("a", 5, 40)],
        "max_by_last": [("a", 3, 10), ("a", 3, 10), ("a", 5, 40), ("a", 5, 40), ("a", 5, 70)],
        "reduce": [("a", 3, 10), ("a", 4, 30), ("a", 9, 40), ("a", 10, 60), ("a", 15, 70)],
    }
    reducers = {
        "sum": SumAggregator(1),
        "min": ComparableAggregator(1, "min"),
        "max": ComparableAggregator(1, "max"),
        "min_by": ComparableAggregator(1, "min", by=True),
        "min_by_last": ComparableAggregator(1, "min", by=True, first=False),
        "max_by": ComparableAggregator(1, "max", by=True),
        "max_by_last": ComparableAggregator("f1", "max", by=True, first=False),
        "reduce": lambda a, b: (a[0], a[1] + b[1], b[2]),
    }
    program = Program()
    source = program.source(records)
    for name, reducer in reducers.items():
        rolling = program.add(GroupedReduce(reducer).keyed_by(key), source, p=p, partitioner="HASH", spec=key)
        program.collect(rolling, id=name)
    collected, _ = run(program)
    assert {name: [r for r in rows if r[0] == "a"] for name, rows in collected.items()} == expected


def test_count_windows():
    key = KeyPartition(lambda r: r[0], Types.STRING())
    program = Program()
    source = program.source([("a", n) for n in (5, 1, 2, 1, 3, 9, 4)] + [("b", 1)])

    def window(id, trigger, evictor, reducer):
        operator = WindowOperator(GlobalWindows(), trigger, evictor, ReduceWindow(reducer)).keyed_by(key)
        program.collect(program.add(operator, source, partitioner="HASH", spec=key), id=id)

    window("tumbling", PurgingTrigger(CountTrigger(3)), None, SumAggregator(1))
    window("sliding", CountTrigger(2), CountEvictor(3), SumAggregator(1))
    window("max", CountTrigger(2), CountEvictor(3), ComparableAggregator(1, "max"))
    window("max_by", CountTrigger(2), CountEvictor(3), ComparableAggregator(1, "max", by=True))
    window("growing", CountTrigger(3), None, SumAggregator(1))
    collected, _ = run(program)
    assert collected["tumbling"] == [("a", 8), ("a", 13)]
    assert collected["sliding"] == [("a", 6), ("a", 4), ("a", 13)]
    # Flink writes the maximum 5 into the first element, which is evicted before the second firing; then 9 is written
    # over 1
    assert collected["max"] == [("a", 5), ("a", 2), ("a", 9)]
    assert collected["max_by"] == [("a", 5), ("a", 2), ("a", 9)]
    assert collected["growing"] == [("a", 8), ("a", 21)]


def test_max_of_a_sliding_count_window_is_written_into_the_first_element():
    key = KeyPartition(lambda r: r[0], Types.STRING())
    program = Program()
    source = program.source([("a", n) for n in (1, 7, 2, 3, 4)])
    operator = WindowOperator(
        GlobalWindows(), CountTrigger(1), CountEvictor(3), ReduceWindow(ComparableAggregator(1, "max"))
    )
    program.collect(program.add(operator.keyed_by(key), source, partitioner="HASH", spec=key))
    # firing 2 leaves (7, 7), firing 3 (7, 7, 2), firing 4 works on (7, 2, 3), firing 5 on (2, 3, 4)
    assert run(program)[0]["out"] == [("a", 1), ("a", 7), ("a", 7), ("a", 7), ("a", 4)]


def test_diamond_union_and_sinks_at_different_levels():
    program = Program()
    source = program.source(range(100))
    left = program.add(StreamFilter(lambda x: x % 2 == 0), source, p=2)
    right = program.add(StreamMap(lambda x: x * 10), source, p=3)
    deep = program.add(StreamMap(lambda x: x + 1), right, p=2)
    both = program.add(StreamMap(lambda x: x), left, deep, source, p=4, partitioner="REBALANCE")
    twice = program.add(StreamMap(lambda x: x), source, source, p=2)
    program.collect(both, id="both")
    program.collect(source, id="source")
    program.collect(twice, id="twice")
    collected, reports = run(program)
    expected = [x for x in range(100) if x % 2 == 0] + [x * 10 + 1 for x in range(100)] + list(range(100))
    assert sorted(collected["both"]) == sorted(expected)
    assert collected["source"] == list(range(100))
    assert Counter(collected["twice"]) == dict.fromkeys(range(100), 2)
    tasks = Counter(report.vertex for report in reports)
    assert all(tasks[report.vertex] == report.parallelism for report in reports)


def test_side_outputs_and_counters():
    late, odd = OutputTag("late"), OutputTag("odd")

    def split(value, ctx):
        if value > 7:
            yield late, value
        if value % 2:
            yield odd, str(value)
        else:
            yield value

    program = Program()
    source = program.source(range(10))
    process = program.add(ProcessOperator(split), source, name="split")
    program.collect(process, id="main")
    program.collect(program.add(StreamMap(lambda s: s + "!"), process, tag="odd", name="shout"), id="odd")
    far = program.add(StreamMap(lambda x: -x), process, tag="late", p=2, partitioner="REBALANCE")
    program.collect(far, id="late")
    collected, reports = run(program)
    assert collected["main"] == [0, 2, 4, 6, 8]
    assert collected["odd"] == ["1!", "3!", "5!", "7!", "9!"]
    assert sorted(collected["late"]) == [-9, -8]
    counters = {c.name: (c.records_in, c.records_out) for r in reports for c in r.counters}
    assert counters["split"] == (10, 12)
    assert counters["shout"] == (5, 5)


def test_partitioners_choose_subtasks():
    class Where:
        def open(self, runtime_context):
            self.me = runtime_context.get_index_of_this_subtask()
            self.p = runtime_context.get_number_of_parallel_subtasks()

        def map(self, value):
            return (self.me, value)

    program = Program()
    source = program.source(range(12))
    spread = program.add(StreamMap(lambda x: x), source, p=2, partitioner="REBALANCE")
    custom = CustomPartition(lambda key, n: key % n, lambda value: value + 1)
    for kind, spec in [("BROADCAST", None), ("GLOBAL", None), ("RESCALE", None), ("SHUFFLE", None), ("CUSTOM", custom)]:
        where = program.add(StreamMap(Where()), spread, p=4, partitioner=kind, spec=spec)
        program.collect(where, id=kind)
    same = program.add(StreamMap(Where()), spread, p=2, partitioner="FORWARD", chain="NEVER")
    program.collect(same, id="FORWARD")
    collected, _ = run(program)
    assert Counter(collected["BROADCAST"]) == {(i, x): 1 for i in range(4) for x in range(12)}
    assert {i for i, _ in collected["GLOBAL"]} == {0}
    assert Counter(i for i, _ in collected["RESCALE"]) == {0: 3, 1: 3, 2: 3, 3: 3}
    assert sorted(x for _, x in collected["SHUFFLE"]) == list(range(12))
    assert all(i == (x + 1) % 4 for i, x in collected["CUSTOM"])
    assert Counter(i for i, _ in collected["FORWARD"]) == {0: 6, 1: 6}
    assert {x % 2 for i, x in collected["FORWARD"] if i == 0} in ({0}, {1})


def test_results_are_the_same_in_every_run():
    def once():
        program = Program()
        source = program.source(range(1000))
        spread = program.add(StreamMap(lambda x: x), source, p=3, partitioner="SHUFFLE")
        again = program.add(StreamMap(lambda x: x), spread, p=2, partitioner="REBALANCE")
        program.collect(again)
        return run(program)[0]["out"]

    assert once() == once()


def test_functions_are_copied_per_subtask():
    class Count:
        def __init__(self):
            self.n = 0

        def map(self, value):
            self.n += 1
            return self.n

    counter = Count()
    program = Program()
    source = program.source(range(10))
    program.collect(program.add(StreamMap(counter), source, p=2, partitioner="REBALANCE"))
    assert sorted(run(program)[0]["out"]) == sorted([1, 2, 3, 4, 5] * 2)
    assert counter.n == 0


def test_keyed_state():
    class PerKey:
        def open(self, runtime_context):
            self.seen = runtime_context.get_state("seen")

        def process_element(self, value, ctx):
            n = (self.seen.value() or 0) + 1
            self.seen.update(n)
            yield ctx.get_current_key(), n, ctx.timestamp()

    key = KeyPartition(lambda x: x % 3)
    program = Program()
    source = program.source(range(9))
    program.collect(
        program.add(KeyedProcessOperator(PerKey()).keyed_by(key), source, p=2, partitioner="HASH", spec=key)
    )
    assert sorted(run(program)[0]["out"]) == [(k, n, None) for k in range(3) for n in (1, 2, 3)]


def test_user_sources_push_and_are_pulled():
    class Numbers:
        def open(self, runtime_context):
            self.start = runtime_context.get_index_of_this_subtask() * 100_000

        def run(self, ctx):
            for i in range(100_000):
                ctx.collect_with_timestamp(self.start + i, i)

    class Stamp:
        def process_element(self, value, ctx):
            yield value - ctx.timestamp()

    program = Program()
    source = program.add(StreamSource(Numbers()), p=2)
    stamped = program.add(ProcessOperator(Stamp()), source, p=3, partitioner="REBALANCE")
    program.collect(stamped)
    collected, reports = run(program)
    assert Counter(collected["out"]) == {0: 100_000, 100_000: 100_000}
    counters = [c for r in reports for c in r.counters if c.name.startswith("Source")]
    assert [(c.records_in, c.records_out) for c in counters] == [(0, 100_000)] * 2


def test_sequences_are_dealt_out():
    program = Program()
    source = program.add(StreamSource(SequenceSource(5, 10_004)), p=3)
    program.collect(source)
    assert sorted(run(program)[0]["out"]) == list(range(5, 10_005))


def test_sinks_of_the_program(tmp_path):
    class Write:
        def __init__(self, folder, context):
            self.folder = folder
            if context:
                self.invoke = self.with_context

        def open(self, runtime_context):
            self.file = open(f"{self.folder}/{runtime_context.get_index_of_this_subtask()}", "w")  # noqa: SIM115

        def invoke(self, value):
            self.file.write(f"{value}\n")

        def with_context(self, value, context):
            self.file.write(f"{value} {context.timestamp()}\n")

        def close(self):
            self.file.close()

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    program = Program()
    source = program.source(range(10))
    program.add(StreamSink(Write(str(tmp_path / "a"), False)), source, p=2)
    program.add(StreamSink(Write(str(tmp_path / "b"), True)), source)
    run(program)
    lines = [line for i in "01" for line in (tmp_path / "a" / i).read_text().split()]
    assert sorted(map(int, lines)) == list(range(10))
    assert (tmp_path / "b" / "0").read_text().splitlines()[0] == "0 None"
