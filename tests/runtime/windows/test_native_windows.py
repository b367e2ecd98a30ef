"""Windows in native code against the operator in Python: results in order, late records, state, timers, both ways."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.common import Types
from penstock.compiler.operators import Compilation
from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.chain.segments import Segment
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.operators.window_contents import STATE
from penstock.runtime.usercode.failure import OperatorFailure
from penstock.runtime.windows.assigners import (
    EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.runtime.windows.evictors import Evictor
from penstock.runtime.windows.functions import AggregateWindow, ApplyWindow, ProcessWindow, ReduceWindow
from penstock.runtime.windows.triggers import EventTimeTrigger
from tests.effort import examples
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.snapshots import carry_over


def program(parameters: int, expr: Any) -> str:
    function = {"params": parameters, "locals": parameters, "body": [["return", expr]]}
    return json.dumps({"v": 1, "functions": [function]})


def at(local: int, index: int) -> Any:
    return ["index", ["local", local], ["const", index]]


KEY = KeyPartition(lambda record: record[0], Types.STRING(), program=program(1, at(0, 0)))
LARGE = 1 << 62


class Together:
    """Collects how many records came, and the sum of their values."""

    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + 1, accumulator[1] + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


TOGETHER = (
    program(0, ["tuple", ["const", 0], ["const", 0]]),
    program(2, ["tuple", ["add", at(1, 0), ["const", 1]], ["add", at(1, 1), at(0, 1)]]),
    program(1, ["local", 0]),
    program(2, ["tuple", ["add", at(0, 0), at(1, 0)], ["add", at(0, 1), at(1, 1)]]),
)


def product(first, second):
    return first[0], first[1] * 3 + second[1]


def larger(first, second):
    return first if first[1] >= second[1] else second


PRODUCT = program(2, ["tuple", at(0, 0), ["add", ["mul", at(0, 1), ["const", 3]], at(1, 1)]])


class Largest:
    """Collects all records with the largest value: a list."""

    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        if not accumulator or value[1] > accumulator[0][1]:
            return [value]
        if value[1] == accumulator[0][1]:
            accumulator.append(value)
        return accumulator

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a if a[0][1] > b[0][1] else b


class Extremes:
    """Numbers that are added up and compared."""

    def create_accumulator(self):
        return 0, 100, -100

    def add(self, value, acc):
        largest = acc[2] if acc[2] >= value[1] else value[1]
        return acc[0] + value[1], value[1] if value[1] < acc[1] else acc[1], largest

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a[0] + b[0], min(a[1], b[1]), max(a[2], b[2])


class Known(Extremes):
    """The same without a variable."""

    def add(self, value, acc):
        return acc[0] + value[1], value[1] if value[1] < acc[1] else acc[1], acc[2] if acc[2] >= value[1] else value[1]


class Number:
    """How many records came."""

    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class WithEnds:
    """Key, contents, and the ends of the window; nothing for some."""

    def process(self, key, context, elements):
        window = context.window()
        for element in elements:
            if element != 3:
                yield key, element, window.start, context.window().end


class WithStart:
    def apply(self, key, window, inputs):
        return [(key, len(inputs), window.start, window.max_timestamp())]


class Seen:
    """Shows what it sees, and is told when a window is over."""

    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, list(elements), context.current_watermark()

    def clear(self, context):
        pass


class Applied:
    def apply(self, key, window, inputs):
        return [(key, window, list(inputs))]


def compiled(function):
    """A function of windows with the user's functions compiled."""
    spec = WindowOperator(EventTimeSessionWindows(5), EventTimeTrigger(), None, function, keyed=KEY)
    return Compilation().operator(spec).function


FUNCTIONS = {
    "sum": ReduceWindow(SumAggregator(1)),
    "min": ReduceWindow(ComparableAggregator(1, "min")),
    "max": ReduceWindow(ComparableAggregator(1, "max")),
    "min by": ReduceWindow(ComparableAggregator(1, "min", by=True)),
    "max by": ReduceWindow(ComparableAggregator(1, "max", by=True)),
    "min by, last": ReduceWindow(ComparableAggregator(1, "min", by=True, first=False)),
    "max by, last": ReduceWindow(ComparableAggregator(1, "max", by=True, first=False)),
    "reduce": ReduceWindow(product, program=PRODUCT),
    "aggregate": AggregateWindow(Together(), programs=TOGETHER),
    "sum, seen": ReduceWindow(SumAggregator(1), ProcessWindow(Seen())),
    "seen": ProcessWindow(Seen()),
    "applied": ApplyWindow(Applied()),
    "aggregate, applied": AggregateWindow(Together(), ApplyWindow(Applied()), programs=TOGETHER),
    "number": compiled(AggregateWindow(Number())),
    "number, with ends": compiled(AggregateWindow(Number(), ProcessWindow(WithEnds()))),
    "extremes": compiled(AggregateWindow(Extremes())),
    "known": compiled(AggregateWindow(Known())),
    "largest": compiled(AggregateWindow(Largest())),
    "larger": compiled(ReduceWindow(larger)),
    "later of equals": compiled(ReduceWindow(lambda a, b: b if b[1] >= a[1] else a)),
    "reduce, with ends": compiled(ReduceWindow(product, ProcessWindow(WithEnds()))),
    "all, with start": compiled(ApplyWindow(WithStart())),
    "all, with ends": compiled(ProcessWindow(WithEnds())),
}
BY_EVENT_TIME = {
    "tumbling": TumblingEventTimeWindows(10, 3),
    "sliding": SlidingEventTimeWindows(10, 4, 1),
    "with gaps": SlidingEventTimeWindows(3, 7, 0),
    "sessions": EventTimeSessionWindows(5),
}
BY_CLOCK = {
    "tumbling": TumblingProcessingTimeWindows(10, 3),
    "sliding": SlidingProcessingTimeWindows(10, 4, 1),
    "sessions": ProcessingTimeSessionWindows(5),
}


@dataclass
class Both:
    """The operator in Python, and the same in native code."""

    spec: WindowOperator
    tracked: bool = False
    python: Alone = field(init=False)
    native: Alone = field(init=False)
    clock: int = 0
    before: Any = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.python, self.native = (Alone(self.spec, tracked=self.tracked) for _ in range(2))
        self._enter()

    def _enter(self) -> None:
        stage = self.native.live.keyed_stage(_native, 0)
        assert stage is not None
        self.stage, live = stage, self.native.live
        self.segment = Segment(_native, stage.run, [live], self._hand_over, self._collect, stage.flush, stage.leave)

    def _hand_over(self, batch: Any) -> None:
        self.native.results += zip(batch.objects(), batch.times, strict=True)

    def _collect(self, value: Any, time: int | None) -> None:
        before = self.native.live.emitted
        self.native.take(value, time)
        assert self.native.live.emitted >= before

    def take(self, records: list[tuple[Any, int | None]]) -> None:
        for value, time in records:
            self.python.take(value, time)
        values, times = [value for value, _ in records], [time for _, time in records]
        batch = _native.Batch.of(values, times)
        if batch is None:
            self.stage.flush()
            for value, time in records:
                self.native.take(value, time)
        else:
            self.segment.take_all(batch)

    def watermark(self, watermark: int) -> None:
        for side in (self.python, self.native):
            side.watermark(watermark)

    def wait_until(self, now: int) -> None:
        for side in (self.python, self.native):
            side.wait_until(now)

    def check_state(self) -> None:
        if not self.spec.assigner.merging:
            assert self.native.state.size() == self.python.state.size()
        assert self.native.state.is_empty() == self.python.state.is_empty()
        self.native.state.settle()
        assert state_of(self.native) == state_of(self.python)
        if self.tracked:
            changed = changes_of(self.native)
            assert differences(self.before, state_of(self.native)[0]) <= changed <= changes_of(self.python)

    def check(self) -> None:
        for what in ("results", "sides", "watermarks"):
            assert getattr(self.native, what) == getattr(self.python, what)
        for what in ("late_dropped", "emitted"):
            assert getattr(self.native.live, what) == getattr(self.python.live, what)

    def change_sides(self) -> None:
        """Each goes on with the other's state."""
        before = self.python, self.native
        self.__post_init__()
        for old, new in zip(before, (self.native, self.python), strict=True):
            carry_over(old.state, new.state)
            new.live.resume(old.live.volatile())
            new.live.late_dropped, new.live.emitted, new.results = 0, 0, []
            new.now = old.now
            new.context.time.watch_clock()
        self.before = copy.deepcopy(state_of(self.python)[0])


def state_of(alone: Alone) -> Any:
    tables = {
        (name, namespace): dict(table)
        for name, namespaces in alone.state.tables()
        for namespace, table in namespaces.items()
        if table
    }
    return tables, [[(t.time, t.slot, t.key, t.namespace) for t in queue] for _, queue in alone.state.queues()]


def changes_of(alone: Alone) -> set[Any]:
    return {(place, slot) for place, slots in alone.state.changes for slot in slots}


def differences(before: Any, after: Any) -> set[Any]:
    one, other = (
        {(place, slot): value for place, table in tables.items() for slot, value in table.items()}
        for tables in (before, after)
    )
    return {place for place in one | other if one.get(place) != other.get(place)}


RECORD = st.tuples(st.tuples(st.sampled_from("abc"), st.integers(-5, 9)), st.integers(-20, 60))
RARE = st.tuples(st.tuples(st.sampled_from("ab"), st.sampled_from([LARGE, 0.5, True])), st.integers(-20, 60))
STEP = st.one_of(
    st.tuples(st.just("take"), st.lists(RECORD, min_size=1, max_size=12)),
    st.tuples(st.just("take"), st.lists(RECORD, min_size=1, max_size=12)),
    st.tuples(st.just("watermark"), st.integers(-20, 60)),
    st.tuples(st.just("wait"), st.integers(0, 9)),
    st.tuples(st.sampled_from(["settle", "flush", "change sides"]), st.just(0)),
)
STEPS = st.lists(STEP, max_size=25)
DOUBTFUL = st.lists(
    st.one_of(STEP, st.tuples(st.just("take"), st.lists(st.one_of(RECORD, RARE), max_size=8))), max_size=20
)


def follow(both: Both, steps: list[tuple[str, Any]]) -> None:
    largest = -LARGE
    for what, value in steps:
        if what == "take":
            both.take(value)
        elif what == "watermark" and value > largest:
            largest = value
            both.watermark(value)
        elif what == "wait":
            both.clock += value
            both.wait_until(both.clock)
        elif what == "settle":
            both.check_state()
        elif what == "flush":
            both.stage.flush()
        elif what == "change sides":
            both.check()
            both.change_sides()
        both.check()
    both.watermark(MAX_WATERMARK)
    both.wait_until(both.clock + 100)
    both.check()
    both.check_state()


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("assigner", BY_EVENT_TIME)
@settings(max_examples=examples(20))
@given(steps=STEPS, lateness=st.sampled_from([0, 0, 4, 15]), tag=st.sampled_from([None, "late"]), tracked=st.booleans())
def test_event_time(assigner, function, steps, lateness, tag, tracked):
    spec = WindowOperator(
        BY_EVENT_TIME[assigner], EventTimeTrigger(), None, FUNCTIONS[function], lateness, tag, keyed=KEY
    )
    follow(Both(spec, tracked), steps)


@pytest.mark.parametrize("function", ["sum", "aggregate", "sum, seen", "seen", "number", "largest"])
@pytest.mark.parametrize("assigner", BY_CLOCK)
@settings(max_examples=examples(40))
@given(steps=STEPS)
def test_the_clock(assigner, function, steps):
    windows = BY_CLOCK[assigner]
    follow(Both(WindowOperator(windows, windows.default_trigger(), None, FUNCTIONS[function], keyed=KEY)), steps)


@pytest.mark.parametrize("function", ["sum", "max by, last", "known", "largest", "number, with ends"])
@pytest.mark.parametrize("assigner", BY_EVENT_TIME)
@settings(max_examples=examples(40))
@given(steps=DOUBTFUL)
def test_doubtful_records_go_through_python(assigner, function, steps):
    spec = WindowOperator(BY_EVENT_TIME[assigner], EventTimeTrigger(), None, FUNCTIONS[function], 4, "late", keyed=KEY)
    follow(Both(spec), steps)


def test_what_fails_fails_in_python():
    spec = WindowOperator(BY_EVENT_TIME["tumbling"], EventTimeTrigger(), None, FUNCTIONS["sum"], keyed=KEY)
    both = Both(spec)
    records = [(("a", 1), 1), (("a", 2), 2), (("a", 3), None)]
    with pytest.raises(OperatorFailure, match="no timestamp marker"):
        both.segment.take_all(_native.Batch.of([value for value, _ in records], [time for _, time in records]))
    assert [list(table.values()) for table in dict(both.native.state.tables())[STATE].values()] == [[("a", 3)]]


@pytest.mark.parametrize(
    "changed",
    [
        {"evictor": Evictor()},
        {"function": ReduceWindow(product)},
        {"function": ReduceWindow(SumAggregator("amount"))},
        {"keyed": replace(KEY, program=None)},
        {"keyed": replace(KEY, key_type=Types.DOUBLE())},
    ],
)
def test_what_stays_in_python(changed):
    spec = WindowOperator(BY_EVENT_TIME["tumbling"], EventTimeTrigger(), None, FUNCTIONS["sum"], keyed=KEY)
    assert Alone(spec).live.keyed_stage(_native, 0) is not None
    assert Alone(replace(spec, **changed)).live.keyed_stage(_native, 0) is None


def test_large_state_is_not_exported_to_say_that_it_is_there():
    both = Both(WindowOperator(BY_EVENT_TIME["tumbling"], EventTimeTrigger(), None, FUNCTIONS["sum"], keyed=KEY))
    both.take([((str(number), 1), number) for number in range(100)])
    state = both.native.state
    assert (state.size(), state.is_empty(), dict(state.tables()).get(STATE)) == (100, False, None)
    both.watermark(MAX_WATERMARK)
    assert (state.size(), state.is_empty()) == (0, True)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name in ("number", "extremes", "known", "largest")])
def test_aggregates_compile(name):
    assert len(FUNCTIONS[name].programs) == 4


@pytest.mark.parametrize("name", ["number, with ends", "reduce, with ends"])
def test_functions_behind_a_reduction_compile(name):
    assert FUNCTIONS[name].then.program is not None


def test_a_list_that_grows_long_goes_through_python():
    spec = WindowOperator(BY_EVENT_TIME["tumbling"], EventTimeTrigger(), None, FUNCTIONS["largest"], keyed=KEY)
    both = Both(spec)
    both.take([(("a", 1), number % 10) for number in range(200)])
    both.check()
    both.watermark(MAX_WATERMARK)
    both.check()
    assert max(len(result[0]) for result in both.native.results) == 140


@pytest.mark.parametrize("function", ["number", "known", "largest", "larger", "later of equals", "number, with ends"])
@pytest.mark.parametrize("assigner", BY_EVENT_TIME)
def test_many_records_of_many_keys(assigner, function):
    spec = WindowOperator(BY_EVENT_TIME[assigner], EventTimeTrigger(), None, FUNCTIONS[function], keyed=KEY)
    both = Both(spec)
    for start in range(0, 400, 40):
        values = [number if number % 500 < 20 else number % 7 for number in range(3_000)]
        records = [((str(n * n % 23), value), start + n % 31) for n, value in enumerate(values)]
        both.take(records)
        both.check()
        both.watermark(start + 25)
        both.check()
        both.check_state()
    both.watermark(MAX_WATERMARK)
    both.check()
    both.check_state()
