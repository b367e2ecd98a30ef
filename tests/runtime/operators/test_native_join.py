"""Interval joins in native code against the operator in Python: pairs in order, late records, timers, and state."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.common import Row, Types
from penstock.compiler.operators import Compilation
from penstock.datastream import OutputTag, ProcessJoinFunction, ValueStateDescriptor
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.interval_join import IntervalJoin
from penstock.runtime.usercode.failure import OperatorFailure
from tests.effort import examples
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.operators.test_native_process import RARE, RECORD, BothProcesses, steps_of
from tests.runtime.windows.test_native_windows import LARGE, changes_of, differences, follow, state_of

KEY = KeyPartition(lambda record: record[0])
LONG = Types.LONG()
TAG = OutputTag("tag", LONG)


def operator(function: Any, lower: int = -10, upper: int = 5) -> IntervalJoin:
    """The operator of a function, compiled."""
    return Compilation().operator(IntervalJoin(function, lower, upper, keyed=replace(KEY), second_keyed=replace(KEY)))


def plain_state_of(alone: Alone) -> Any:
    """Its state, with buffers as plain data: number of buckets, and records by time, in order."""
    tables, timers = state_of(alone)
    shown = {place: {key: plain(value) for key, value in table.items()} for place, table in tables.items()}
    return shown, timers


def plain(value: Any) -> Any:
    times = getattr(value, "times", None)
    return value if times is None else (value.buckets, copy.deepcopy(list(times.items())))


@dataclass
class BothJoins(BothProcesses):
    """Records go into the inputs in turn."""

    @property
    def inputs(self) -> list[int]:
        return [1, 2]

    def check_state(self) -> None:
        assert self.native.state.size() == self.python.state.size()
        assert self.native.state.is_empty() == self.python.state.is_empty()
        self.native.state.settle()
        assert plain_state_of(self.native) == plain_state_of(self.python)
        if self.tracked:
            assert differences(self.before, plain_state_of(self.native)[0]) <= changes_of(self.native)

    def change_sides(self) -> None:
        super().change_sides()
        self.before = plain_state_of(self.python)[0]


class Pairs(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield left, right, ctx.get_left_timestamp(), ctx.get_right_timestamp(), ctx.get_timestamp()


class Some(ProcessJoinFunction):
    """None for some pairs, several results for others, and some for a side output; doubt where numbers are large."""

    def open(self, runtime_context: Any) -> None:
        self.factor = int("3")

    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        if left[1] == right[1]:
            return
        if right[1] % 3 == 0:
            yield TAG, self.later(ctx)
        yield left[0], left[1] * right[1] * self.factor
        if left[1] > right[1]:
            yield right[0], self.later(ctx)

    def later(self, ctx: Any) -> int:
        return ctx.get_right_timestamp() - ctx.get_left_timestamp()


class Whole(ProcessJoinFunction):
    """Gives the records themselves, in a list, or nothing at all."""

    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        return [left, right] if left[1] < right[1] else None


class Called(ProcessJoinFunction):
    """It is not compiled: it has state, and keeps its context."""

    ctx: Any = None

    def open(self, runtime_context: Any) -> None:
        self.number = runtime_context.get_state(ValueStateDescriptor("number", LONG))

    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        number = (self.number.value() or 0) + 1
        self.number.update(number)
        kept, self.ctx = self.ctx, ctx
        yield left, right, number, ctx is kept, repr(kept), repr(ctx)
        if number % 3 == 0:
            yield TAG, number


FUNCTIONS = {
    "called": Called,
    "pairs": Pairs,
    "some": Some,
    "whole": Whole,
    "lambda": lambda: lambda left, right, ctx: [(left[1], right)],
}
BOUNDS = st.sampled_from([(-10, 5), (0, 0), (3, 20), (-20, -3), (-100, 100), (0, 7)])
BASES = st.sampled_from([0, (1 << 16) - 30, (1 << 32) - 30, -(1 << 32) - 30])  # where hashes change course


def moved(steps: list[tuple[str, Any]], base: int) -> list[tuple[str, Any]]:
    """The same some time later."""
    moves = {"take": lambda records: [(record, time + base) for record, time in records], "watermark": base.__add__}
    return [(what, moves.get(what, lambda nothing: nothing)(value)) for what, value in steps]


@pytest.mark.parametrize("function", FUNCTIONS)
@settings(max_examples=examples(60))
@given(bounds=BOUNDS, steps=steps_of(RECORD, 20), base=BASES, tracked=st.booleans())
def test_joins(function, bounds, steps, base, tracked):
    follow(BothJoins(operator(FUNCTIONS[function](), *bounds), tracked), moved(steps, base))


@pytest.mark.parametrize("function", FUNCTIONS)
@settings(max_examples=examples(60))
@given(bounds=BOUNDS, steps=steps_of(RECORD | RARE, 20), tracked=st.booleans())
def test_doubtful_records_go_through_python(function, bounds, steps, tracked):
    follow(BothJoins(operator(FUNCTIONS[function](), *bounds), tracked), steps)


def test_native_code_does_the_work():
    both = BothJoins(operator(Pairs()))
    both.native.live.input = both.segments[1]._collect = both.segments[2]._collect = None
    for _ in range(4):
        both.take([(("a", number), number) for number in range(20)])
    both.watermark(8)
    both.check()
    assert len(both.native.results) > 100
    both.check_state()


def test_python_takes_as_many_records_as_there_are_in_buffers_after_a_doubt():
    both = BothJoins(operator(lambda left, right, ctx: [left[1] * right[1]]))
    for _ in range(2):
        both.take([(("a", number), number) for number in range(20)])
    both.take([(("a", LARGE), 3)])
    assert both.stage.leave(100) == 40
    both.check()


def test_rows_are_joined():
    both = BothJoins(operator(lambda left, right, ctx: [Row(left[0], right)]))
    both.take([(Row("a", 1), 1), (Row("b", 2), 2)])
    both.take([(Row("a", 3), 1), (Row("c", 4), 2)])
    both.check()
    assert both.native.results == [(Row("a", Row("a", 3)), 1)]
    both.check_state()


@pytest.mark.parametrize(
    ("second", "error"),
    [
        ((("a", 0), 3), "by zero"),
        ((("a", 1), None), "has no timestamp"),
        (((None, 1), 3), "None"),
    ],
)
def test_what_fails_fails_in_python(second, error):
    both = BothJoins(operator(lambda left, right, ctx: [left[1] // right[1]]))
    both.take([(("a", 8), 2)])
    records = [(("a", 2), 3), second, (("a", 4), 3)]
    with pytest.raises(OperatorFailure, match=error):
        both.segments[2].take_all(_native.Batch.of([value for value, _ in records], [time for _, time in records]))
    assert both.native.results == [(4, 3)]


def test_times_at_the_end_of_what_64_bits_have():
    both = BothJoins(operator(Pairs()))
    last = (1 << 63) - 1
    both.take([(("a", 1), last), (("a", 2), last - 5), (("a", 3), -last - 1)])
    both.take([(("a", 4), last - 10), (("a", 5), last), (("a", 6), -last - 1)])
    both.check()
    both.check_state()
    both.change_sides()
    both.take([(("a", 7), last - 12)])
    both.check()
    both.check_state()


@settings(max_examples=examples(60))
@given(before=BOUNDS, after=BOUNDS, first=steps_of(RECORD, 20), steps=steps_of(RECORD, 20))
def test_state_of_other_bounds_goes_on(before, after, first, steps):
    both = BothJoins(operator(Pairs(), *before))
    for what, value in first:
        if what == "take":
            both.take(value)
    both.spec = operator(Pairs(), *after)
    both.change_sides()
    follow(both, steps)


def test_timers_of_others_stay_in_python():
    both = BothJoins(operator(Pairs()))
    for side in (both.python, both.native):
        side.state.event_timers.add(7, "a", "a", None)
    both.take([(("a", 1), 1), (("a", 2), 2)])
    both.check()
    assert not both.native.context.time.ahead.covers(True)
    both.watermark(10)
    both.check_state()


class Asking(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield ctx.timestamp()


class Timing(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield ctx.timer_service().current_watermark()


class Keeping(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield ctx


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (Pairs(), None),
        (Some(), None),
        (Called(), "native joins call functions without state of their own"),
        (Asking(), "the context is used for more than its timestamps"),
        (Timing(), "not a method that can be translated"),
        (Keeping(), "which is not plain data"),
    ],
)
def test_verdicts(function, reason):
    spec = operator(function)
    of_function, of_operator = Compilation().verdicts(spec)[-2:]
    assert of_operator.how == "native"
    assert Alone(spec).live.keyed_stage(_native, 1) is not None
    if reason is None:
        assert of_function.how == "compiled"
    else:
        assert reason in of_function.refusal.reason
        assert spec.programs is None


def test_a_key_in_python_keeps_the_join_there():
    spec = operator(Pairs())
    assert Alone(replace(spec, second_keyed=replace(KEY, program=None))).live.keyed_stage(_native, 1) is None


def test_records_that_can_be_changed_are_not_shown_to_python():
    class Changing(ProcessJoinFunction):
        def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
            left[1].append(right[1])
            yield left[0], len(left[1])

    both = BothJoins(operator(Changing()))
    for number in (1, 2, 1):
        for value, time in (("a", [1]), 1), (("a", [2]), 2):
            both.python.take(value, time, number)
        both.segments[number].take_all(_native.Batch.of([("a", [1]), ("a", [2])], [1, 2]))
    both.check()
    assert [result[1] for result, _ in both.native.results] == [2, 2, 3, 3, 2, 3, 2, 3]
    both.check_state()


def test_what_a_called_function_raises_is_its_failure():
    both = BothJoins(operator(lambda left, right, ctx: [left[1] // right[1], repr(ctx)]))
    both.take([(("a", 8), 2)])
    with pytest.raises(OperatorFailure, match="by zero"):
        both.segments[2].take_all(_native.Batch.of([("a", 2), ("a", 0), ("a", 4)], [3, 3, 3]))
    assert [result for result, _ in both.native.results] == [4, "<JoinContext left=2 right=3>"]


def test_python_joins_where_a_called_function_has_very_many_partners():
    both = BothJoins(operator(Called()))
    for _ in range(40):
        both.take([(("a", number % 3), number) for number in range(30)])
    assert both.stage.leave(7) == 7
    both.check()
    assert not both.native.context.time.ahead.covers(True)
    both = BothJoins(operator(Pairs()))
    for _ in range(40):
        both.take([(("a", number % 3), number) for number in range(30)])
    assert both.stage.leave(7) == 0
    both.check()
