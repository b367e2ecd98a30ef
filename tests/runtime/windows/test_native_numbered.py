"""PyFlink's windows by count in native code, against the operator in Python. They have numbers, by how many records of
a key came before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import _native
from penstock.common import Configuration, Types
from penstock.compiler.operators import Compilation, Verdict
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.functions import ProcessWindowFunction
from penstock.runtime.operators.native_triggers import NativeTriggers
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import CountSlidingWindowAssigner, CountTumblingWindowAssigner, WindowAssigner
from penstock.runtime.windows.functions import ProcessWindow
from tests.effort import examples
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.windows.test_native_counts import DOUBTFUL, STEPS
from tests.runtime.windows.test_native_triggers import ENDLESS, ENDLESS_FUNCTIONS, EVICTORS, TRIGGERS
from tests.runtime.windows.test_native_windows import KEY, Both, follow

ASSIGNERS: dict[str, WindowAssigner[Any, Any]] = {
    "of 1": CountTumblingWindowAssigner.of(1),
    "of 3": CountTumblingWindowAssigner.of(3),
    "of 4, each 2": CountSlidingWindowAssigner.of(4, 2),
    "of 5, each 1": CountSlidingWindowAssigner.of(5, 1),
    "of 2, each 5": CountSlidingWindowAssigner.of(2, 5),
    "of 3, each 2": CountSlidingWindowAssigner.of(3, 2),
}


class Numbers(ProcessWindowFunction):
    """Sees the number of a window, which only Python knows."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, context.window().id, context.window().max_timestamp(), list(elements)


FUNCTIONS = {**ENDLESS_FUNCTIONS, "numbers": ProcessWindow(Numbers(), True)}


def spec_of(assigner: str, function: str, trigger: str | None = None, evictor: str | None = None) -> WindowOperator:
    windows = ASSIGNERS[assigner]
    when = windows.default_trigger() if trigger is None else TRIGGERS[trigger]
    of_evictor = None if evictor is None else EVICTORS[evictor]
    return Compilation().operator(WindowOperator(windows, when, of_evictor, FUNCTIONS[function], keyed=KEY))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("assigner", ASSIGNERS)
@settings(max_examples=examples(20))
@given(steps=STEPS, tracked=st.booleans())
def test_windows_with_their_own_trigger(assigner: str, function: str, steps: Any, tracked: bool) -> None:
    follow(Both(spec_of(assigner, function), tracked), steps)


@pytest.mark.parametrize("trigger", ENDLESS)
@settings(max_examples=examples(40))
@given(
    assigner=st.sampled_from(list(ASSIGNERS)),
    function=st.sampled_from(["sum", "min", "aggregate", "largest"]),
    evictor=st.sampled_from([None, None, *EVICTORS]),
    steps=STEPS,
    tracked=st.booleans(),
)
def test_other_triggers(
    trigger: str, assigner: str, function: str, evictor: str | None, steps: Any, tracked: bool
) -> None:
    follow(Both(spec_of(assigner, function, trigger, evictor), tracked), steps)


@pytest.mark.parametrize("assigner", ASSIGNERS)
@settings(max_examples=examples(20))
@given(steps=DOUBTFUL, function=st.sampled_from(["sum", "aggregate", "largest", "applied"]))
def test_doubtful_records_go_through_python(assigner: str, function: str, steps: Any) -> None:
    follow(Both(spec_of(assigner, function)), steps)


def test_the_operator_is_native() -> None:
    for assigner in ASSIGNERS:
        spec = spec_of(assigner, "sum")
        assert Compilation().verdicts(spec)[-1] == Verdict("native")
        assert isinstance(Alone(spec).live.keyed_stage(_native, 0), NativeTriggers)


@pytest.mark.parametrize("assigner", ["of 3", "of 4, each 2"])
def test_many_records_of_many_keys(assigner: str) -> None:
    both = Both(spec_of(assigner, "aggregate"))
    for start in range(3):
        both.take([((str((start + n * n) % 523), n % 7), n) for n in range(3_000)])
        both.check()
        both.check_state()


@pytest.mark.parametrize("slide", [None, 2])
def test_a_program_with_pyflinks_ways(slide: int | None) -> None:
    results = []
    for native in ("auto", "off"):
        settings = Configuration({"penstock.native": native, "penstock.pyflink": "true"})
        env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
        records = [(f"k{number % 5}", number) for number in range(1_003)]
        pairs = env.from_collection(records, type_info=Types.TUPLE([Types.STRING(), Types.LONG()]))
        windows = pairs.key_by(lambda pair: pair[0]).count_window(*(4,) if slide is None else (4, slide))
        results.append(list(windows.reduce(lambda a, b: (a[0], a[1] + b[1])).execute_and_collect()))
    assert results[0] == results[1] != []
