"""Windows by the number of records in native code against the operator in Python: results in order, and state."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.common import Configuration, Types
from penstock.compiler.operators import Compilation, Verdict
from penstock.datastream import StreamExecutionEnvironment
from penstock.runtime.aggregators import SumAggregator
from penstock.runtime.operators.native_triggers import NativeTriggers
from penstock.runtime.operators.native_windows import kind_of_windows
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import GlobalWindows
from penstock.runtime.windows.evictors import CountEvictor, TimeEvictor
from penstock.runtime.windows.functions import ProcessWindow, ReduceWindow
from penstock.runtime.windows.triggers import CountTrigger, EventTimeTrigger, PurgingTrigger
from tests.effort import examples
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.windows.test_native_windows import FUNCTIONS, KEY, Both, compiled, follow


class WithoutWindow:
    def process(self, key, context, elements):
        for element in elements:
            if element is None:  # the sum of no elements, as an evictor has removed them all
                yield key, None
            elif element[1] != 3:
                yield key, element[1]


class WithWindow:
    """Shows the window as a whole."""

    def process(self, key, context, elements):
        yield key, context.window(), list(elements)


class WithLast:
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.max_timestamp(), len(elements)


SEEING = {
    "last time, compiled": compiled(ProcessWindow(WithLast())),
    "all, compiled": compiled(ProcessWindow(WithoutWindow())),
    "sum, compiled": compiled(ReduceWindow(SumAggregator(1), ProcessWindow(WithoutWindow()))),
    "all, in Python": ProcessWindow(WithWindow()),
    "sum, in Python": ReduceWindow(SumAggregator(1), ProcessWindow(WithWindow())),
}
SEES_TIMES = {"seen", "sum, seen", "number, with ends", "reduce, with ends", "all, with start", "all, with ends"}
REDUCING = {name: function for name, function in FUNCTIONS.items() if name not in SEES_TIMES} | SEEING
TRIGGERS = {
    "tumbling": (PurgingTrigger(CountTrigger(3)), None),
    "each": (PurgingTrigger(CountTrigger(1)), None),
    "growing": (CountTrigger(2), None),
    "sliding": (CountTrigger(2), CountEvictor(3)),
    "sliding far": (CountTrigger(3), CountEvictor(2)),
    "the last": (CountTrigger(1), CountEvictor(1)),
    "purged": (PurgingTrigger(CountTrigger(3)), CountEvictor(2)),
}
USUAL = st.tuples(st.sampled_from("abc"), st.integers(-5, 9))
RARE = st.tuples(st.sampled_from("ab"), st.sampled_from([1 << 62, 0.5, True]))
CHANGE = st.tuples(st.sampled_from(["settle", "flush", "change sides"]), st.just(0))


def takes(records):
    return st.tuples(st.just("take"), st.lists(st.tuples(records, st.integers(0, 9)), min_size=1, max_size=12))


STEPS = st.lists(st.one_of(takes(USUAL), takes(USUAL), takes(USUAL), CHANGE), max_size=20)
DOUBTFUL = st.lists(st.one_of(takes(USUAL), takes(USUAL | RARE), CHANGE), max_size=15)


def spec_of(trigger: str, function: str) -> WindowOperator:
    when, evictor = TRIGGERS[trigger]
    return WindowOperator(GlobalWindows(), when, evictor, REDUCING[function], keyed=KEY)


@pytest.mark.parametrize("function", REDUCING)
@pytest.mark.parametrize("trigger", TRIGGERS)
@settings(max_examples=examples(20))
@given(steps=STEPS, tracked=st.booleans())
def test_windows_by_count(trigger, function, steps, tracked):
    follow(Both(spec_of(trigger, function), tracked), steps)


@pytest.mark.parametrize(
    "function", ["sum", "max", "max by, last", "aggregate", "largest", "applied", "sum, in Python"]
)
@pytest.mark.parametrize("trigger", TRIGGERS)
@settings(max_examples=examples(20))
@given(steps=DOUBTFUL)
def test_doubtful_records_go_through_python(trigger, function, steps):
    follow(Both(spec_of(trigger, function)), steps)


@pytest.mark.parametrize(
    ("trigger", "evictor"),
    [
        (PurgingTrigger(EventTimeTrigger()), None),
        (CountTrigger(0), None),
        (CountTrigger(2), CountEvictor(0)),
        (CountTrigger(2), CountEvictor(2, True)),
        (CountTrigger(2), TimeEvictor(2)),
    ],
)
def test_what_is_not_counted_has_native_triggers(trigger, evictor):
    assert kind_of_windows(GlobalWindows(), trigger, evictor) == "triggered"
    spec = replace(spec_of("tumbling", "sum"), trigger=trigger, evictor=evictor)
    assert isinstance(Alone(spec).live.keyed_stage(_native, 0), NativeTriggers)
    assert Compilation().verdicts(spec)[-1] == Verdict("native")


def test_the_operator_is_native():
    assert Compilation().verdicts(spec_of("sliding", "sum"))[-1] == Verdict("native")


def test_many_records_of_many_keys():
    for trigger in TRIGGERS:
        both = Both(spec_of(trigger, "aggregate"))
        for start in range(3):
            both.take([((str((start + n * n) % 523), n % 7), n) for n in range(3_000)])
            both.check()
            both.check_state()


@pytest.mark.parametrize("slide", [None, 2])
def test_a_program(slide):
    results = []
    for native in ("auto", "off"):
        env = StreamExecutionEnvironment.get_execution_environment(
            Configuration().set_string("penstock.native", native), executor="local"
        )
        records = [(f"k{number % 5}", number) for number in range(1_000)]
        pairs = env.from_collection(records, type_info=Types.TUPLE([Types.STRING(), Types.LONG()]))
        windows = pairs.key_by(lambda pair: pair[0]).count_window(*(4,) if slide is None else (4, slide))
        results.append(list(windows.reduce(lambda a, b: (a[0], a[1] + b[1])).execute_and_collect()))
    assert results[0] == results[1] != []
