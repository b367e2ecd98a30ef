"""Process functions in native code against the operators in Python: results in order, timers, and state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.common import Configuration, Types
from penstock.compiler.operators import Compilation
from penstock.datastream import (
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ReducingStateDescriptor,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.runtime.chain.segments import Segment
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.process import KeyedProcessOperator
from penstock.runtime.operators.two_inputs import CoProcess
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.operators.process_functions import FUNCTIONS, LONG, PAIR, Counting, Waiting, take_less
from tests.runtime.operators.written_functions import BODY, TAG, written
from tests.runtime.windows.test_native_windows import LARGE, Both, carry_over, changes_of, differences, follow, state_of

KEY = KeyPartition(lambda record: record[0])


def operator(function: Any) -> KeyedProcessOperator | CoProcess:
    """The operator of a function, compiled."""
    keyed = replace(KEY)
    if isinstance(function, KeyedCoProcessFunction):
        return Compilation().operator(CoProcess(function, keyed=keyed, second_keyed=keyed))
    return Compilation().operator(KeyedProcessOperator(function, keyed=keyed))


@dataclass
class BothProcesses(Both):
    """Records go into the inputs in turn, where there are two."""

    taken: int = field(default=0)

    @property
    def inputs(self) -> list[int]:
        return [1, 2] if isinstance(self.spec, CoProcess) else [0]

    def wait_until(self, now: int) -> None:
        for side in (self.python, self.native):
            side.wait_until(now)
            assert side.context.time.next_due() is None or side.context.time.next_due() > now
        assert self.native.context.time.next_due() == self.python.context.time.next_due()

    def _enter(self) -> None:
        live = self.native.live
        self.segments = {}
        for number in self.inputs:
            stage = live.keyed_stage(_native, number)
            assert stage is not None
            collect = self._collecting(number)
            self.segments[number] = Segment(
                _native, stage.run, [live], self._hand_over, collect, stage.flush, stage.leave
            )
            self.stage = stage

    def _collecting(self, number: int) -> Any:
        return lambda value, time: self.native.take(value, time, number)

    def take(self, records: list[tuple[Any, int | None]]) -> None:
        number = self.inputs[self.taken % len(self.inputs)]
        self.taken += 1
        for value, time in records:
            self.python.take(value, time, number)
        batch = _native.Batch.of([value for value, _ in records], [time for _, time in records])
        if batch is None:
            self.stage.flush()
            for value, time in records:
                self.native.take(value, time, number)
        else:
            self.segments[number].take_all(batch)
            assert self.stage.ready

    def watermark(self, watermark: int) -> None:
        for side in (self.python, self.native):
            for number in self.inputs:
                side.watermark(watermark, number)

    def check_state(self) -> None:
        assert self.native.state.size() == self.python.state.size()
        assert self.native.state.is_empty() == self.python.state.is_empty()
        self.native.state.settle()
        assert state_of(self.native) == state_of(self.python)
        if self.tracked:
            changed = changes_of(self.native)
            assert differences(self.before, state_of(self.native)[0]) <= changed

    def change_sides(self) -> None:
        before = self.python, self.native
        self.__post_init__()
        for old, new in zip(before, (self.native, self.python), strict=True):
            carry_over(old.state, new.state)
            new.live.resume(old.live.volatile())
            new.live.emitted, new.results = 0, []
            new.now = old.now
            new.context.time.watch_clock()
        self.before = {place: dict(table) for place, table in state_of(self.python)[0].items()}


RECORD = st.tuples(st.tuples(st.sampled_from("abc"), st.integers(-5, 9)), st.integers(-20, 60))
RARE = st.tuples(
    st.tuples(st.sampled_from("ab"), st.sampled_from([LARGE, LARGE // 2, 0.5, True])), st.integers(-20, 60)
)


def steps_of(records: Any, most: int = 12) -> Any:
    """What happens to an operator; ``most`` records come at a time."""
    take = st.tuples(st.just("take"), st.lists(records, min_size=1, max_size=most))
    watermark = st.tuples(st.just("watermark"), st.integers(-20, 60))
    wait = st.tuples(st.just("wait"), st.integers(0, 9))
    return st.lists(
        st.one_of(
            take, take, watermark, wait, st.tuples(st.sampled_from(["settle", "flush", "change sides"]), st.just(0))
        ),
        max_size=25,
    )


@pytest.mark.parametrize("function", FUNCTIONS)
@given(steps=steps_of(RECORD), tracked=st.booleans())
def test_functions(function, steps, tracked):
    follow(BothProcesses(operator(FUNCTIONS[function]()), tracked), steps)


@pytest.mark.parametrize("function", FUNCTIONS)
@given(steps=steps_of(RECORD | RARE))
def test_doubtful_records_go_through_python(function, steps):
    follow(BothProcesses(operator(FUNCTIONS[function]())), steps)


@pytest.mark.parametrize("both", [False, True])
@settings(deadline=None)
@given(data=st.data(), tracked=st.booleans(), steps=steps_of(RECORD | RARE))
def test_written_functions(both, data, tracked, steps):
    names = ["process_element1", "process_element2"] if both else ["process_element"]
    spec = operator(written({name: data.draw(BODY) for name in [*names, "on_timer"]}))
    assert spec.programs is not None
    follow(BothProcesses(spec, tracked), steps)


class Growing(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.items = runtime_context.get_state(ValueStateDescriptor("items", Types.LIST(LONG)))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        items = self.items.value() or []
        items.append(value[1])
        self.items.update(items)
        yield value[0], len(items)


class Counts(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.counts = runtime_context.get_state(ValueStateDescriptor("counts", Types.MAP(LONG, LONG)))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        counts = self.counts.value() or {}
        counts[value[1]] = counts.get(value[1], 0) + 1
        self.counts.update(counts)
        yield value[0], len(counts)


@pytest.mark.parametrize("function", [Growing, Counts])
def test_a_long_list_or_dict_goes_on_in_python(function):
    both = BothProcesses(operator(function()), True)
    for start in range(0, 200, 10):
        both.take([(("ab"[number % 2], number), number) for number in range(start, start + 10)])
        both.check()
        both.check_state()


class Doubling(KeyedProcessFunction):
    """A state under another function than the one that is written for it."""

    def open(self, runtime_context: Any) -> None:
        runtime_context.get_reducing_state(ReducingStateDescriptor("sum", take_less, LONG))
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, LONG))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.sum.add(value[1])
        yield value[0], self.sum.get()


class Living(KeyedProcessFunction):
    """Its state is one under two names, or another one, where it is not the usual one."""

    def __init__(self, which: str) -> None:
        self.which = which

    def open(self, runtime_context: Any) -> None:
        self.value = runtime_context.get_state(ValueStateDescriptor("value", LONG))
        self.other = runtime_context.get_state(
            ValueStateDescriptor("value" if self.which == "twice" else "other", LONG)
        )

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        number = (self.value.value() or 0) + (self.other.value() or 0) + 1
        self.value.update(number)
        yield value[0], number


@pytest.mark.parametrize("which", ["twice", "other function"])
def test_states_that_are_not_what_they_seem_stay_in_python(which):
    both = BothProcesses(operator(Living("usual")))
    both.take([(("a", 1), 0), (("a", 1), 0)])
    both = BothProcesses(operator(Doubling() if which == "other function" else Living(which)))
    records = [(("a", 1), 0), (("a", 1), 0)]
    for value, time in records:
        both.python.take(value, time)
    both.segments[0].take_all(_native.Batch.of([value for value, _ in records], [0, 0]))
    both.check()
    assert not both.stage.ready


@pytest.mark.parametrize(
    ("function", "reasons"),
    [
        (Living("usual"), [None]),
        (Counting(), [None, None]),
        (Waiting(), [None, None, None]),
    ],
)
def test_verdicts(function, reasons):
    verdicts = Compilation().verdicts(operator(function))
    assert [verdict.refusal and verdict.refusal.reason for verdict in verdicts if "." in verdict.function] == reasons


class Sides(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value[1]
        if value[1] % 2:
            yield TAG, value[1]
        yield -value[1]


TAKEN: list[int] = []


def take(value: Any) -> Any:
    TAKEN.append(value)
    return value


@pytest.mark.parametrize("way", ["auto", "off"])
def test_side_outputs_keep_their_places(way):
    TAKEN.clear()
    settings = Configuration().set_string("penstock.native", way)
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(1)
    records = env.from_collection([("a", 1), ("a", 2), ("b", 3)], type_info=PAIR).key_by(lambda pair: pair[0])
    results = records.process(Sides(), LONG)
    results.map(take, LONG).print()
    results.get_side_output(TAG).map(lambda number: take(100 * number), LONG).print()
    env.execute()
    assert TAKEN == [1, 100, -1, 2, -2, 3, 300, -3]


class Printing(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> None:
        print(value)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield timestamp


def test_one_method_in_python_keeps_the_others_there():
    spec = operator(Printing())
    first, second = Compilation().verdicts(spec)[-2:]
    assert "print() prints" in first.refusal.reason
    assert "process_element of the same function stays in Python" in second.refusal.reason
    assert spec.programs is None
    assert Alone(spec).live.keyed_stage(_native, 0) is None
