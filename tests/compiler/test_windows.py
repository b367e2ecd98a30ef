"""Functions that see windows, as programs; and what is said of windows and their functions."""

from __future__ import annotations

import json

import pytest

from penstock.common import Types
from penstock.compiler.functions import compile_function
from penstock.compiler.operators import Compilation, Verdict
from penstock.compiler.program import Compiled, Refusal
from penstock.runtime.aggregators import SumAggregator
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import (
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    TumblingEventTimeWindows,
)
from penstock.runtime.windows.evictors import Evictor
from penstock.runtime.windows.functions import AggregateWindow, ProcessWindow, ReduceWindow
from penstock.runtime.windows.triggers import EventTimeTrigger, Trigger


def key_of(value):
    return value[0]


class Ends:
    def process(self, key, context, elements):
        window = context.window()
        for element in elements:
            yield key, element, window.start, context.window().end


class Kept:
    def process(self, key, context, elements):
        window = context.window()
        yield key, window


class Unpacked:
    def process(self, key, context, elements):
        start, end = context.window()
        yield start, end


class Asked:
    def process(self, key, context, elements):
        yield context.current_watermark()


class Twice:
    def process(self, key, context, elements):
        window = 5
        window = context.window()
        yield window.start


class Numbered:
    def process(self, key, context, elements):
        yield context.window().id


class Last:
    def process(self, key, context, elements):
        yield context.window().max_timestamp()


def last(key, window, inputs):
    return [window.max_timestamp()]


def apply(key, window, inputs):
    return [(key, window.end - window.start, len(inputs))]


def whole(key, window, inputs):
    return [window]


def of_all(window, inputs):
    yield len(inputs), window.end


def test_a_window_is_its_last_time_its_start_and_its_end():
    compiled = compile_function(Ends(), "process_window")
    assert isinstance(compiled, Compiled)
    (function,) = json.loads(compiled.program)["functions"]
    assert function["params"] == 3
    assert isinstance(compile_function(apply, "apply_window"), Compiled)
    assert isinstance(compile_function(of_all, "apply_all"), Compiled)
    assert isinstance(compile_function(Last(), "process_window"), Compiled)
    assert isinstance(compile_function(last, "apply_window"), Compiled)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (Kept(), "a window is used for more than its start and its end"),
        (Unpacked(), "the context is used for more than start and end of the window"),
        (Asked(), "the context is used for more than start and end of the window"),
        (Twice(), "a variable is a window, and something else"),
        (Numbered(), "id of a window is known in Python only"),
    ],
)
def test_functions_that_ask_for_more_stay_in_python(function, reason):
    refusal = compile_function(function, "process_window")
    assert isinstance(refusal, Refusal)
    assert refusal.reason == reason
    assert refusal.line is not None


def test_a_window_as_a_whole_stays_in_python():
    assert isinstance(compile_function(whole, "apply_window"), Refusal)
    assert isinstance(compile_function(print, "apply_window"), Refusal)


class Count:
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Noisy(Count):
    def add(self, value, accumulator):
        print(value)
        return accumulator + 1


class Silent(Trigger):
    def on_element(self, value, timestamp, window, context):
        return None


class Clearing(Ends):
    def clear(self, context):
        print(context)


def windows(function, assigner=None, trigger=None, evictor=None):
    key = KeyPartition(key_of, Types.LONG())
    assigner = assigner or TumblingEventTimeWindows(10)
    return WindowOperator(assigner, trigger or EventTimeTrigger(), evictor, function, keyed=key)


class Own(CountTumblingWindowAssigner):
    """Derives from one of Flink's own."""


ANOTHER_ASSIGNER = "native code knows Flink's own assigners with a fixed size or gap, and Own is another"
METHODS = [Verdict("compiled", f"Count.{name}") for name in ("create_accumulator", "add", "get_result", "merge")]


def test_verdicts_of_windows_are_of_the_key_each_function_and_the_operator():
    key, native = Verdict("compiled", "key_of"), Verdict("native")
    verdicts = Compilation().verdicts
    assert verdicts(windows(AggregateWindow(Count()))) == [key, *METHODS[:3], native]
    assert verdicts(windows(AggregateWindow(Count()), EventTimeSessionWindows(5))) == [key, *METHODS, native]
    behind = AggregateWindow(Count(), ProcessWindow(Ends()))
    assert verdicts(windows(behind)) == [key, *METHODS[:3], Verdict("compiled", "Ends"), native]
    assert verdicts(windows(ReduceWindow(SumAggregator(1)))) == [key, native]
    assert verdicts(windows(ProcessWindow(Clearing()))) == [key, native]  # it sees them in Python
    asked = verdicts(windows(ProcessWindow(Asked())))
    assert [verdict.how for verdict in asked] == ["compiled", "Python", "native"]


@pytest.mark.parametrize(
    ("operator", "reason"),
    [
        (windows(AggregateWindow(Noisy())), "native code needs the function that reduces windows compiled"),
        (
            windows(ProcessWindow(Ends()), Own(2)),
            ANOTHER_ASSIGNER,
        ),
        (windows(ProcessWindow(Ends()), trigger=Silent()), "native code needs Silent compiled"),
        (
            windows(ProcessWindow(Ends()), evictor=Evictor()),
            "native code has Flink's own evictors only, and Evictor is another",
        ),
        (
            windows(ReduceWindow(SumAggregator("amount"))),
            "native code adds up and compares fields by their positions only",
        ),
    ],
)
def test_windows_that_stay_in_python_say_why(operator, reason):
    last = Compilation().verdicts(operator)[-1]
    assert last.how == "Python"
    assert last.refusal == Refusal(reason)


def test_functions_of_windows_get_their_programs():
    function = Compilation().operator(windows(AggregateWindow(Count(), ProcessWindow(Ends())))).function
    assert isinstance(function, AggregateWindow)
    assert function.programs is not None
    assert isinstance(function.then, ProcessWindow)
    assert function.then.program is not None
    noisy = Compilation().operator(windows(AggregateWindow(Noisy()))).function
    assert isinstance(noisy, AggregateWindow)
    assert noisy.programs is None
