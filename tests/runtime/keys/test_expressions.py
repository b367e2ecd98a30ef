"""Functions that are one expression are written out in fused chains; nobody can tell, but by the time that it takes."""

from __future__ import annotations

import operator
from typing import Any

import pytest

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.errors import JobExecutionError
from penstock.runtime.keys.expressions import expression_of

FIELD, PART = 2, (1, 2)


def of_field(field: Any) -> Any:
    return lambda event, _: event[field]


WRITTEN_OUT = {
    "itself": (lambda record: record, "a"),
    "a field": (lambda bid: bid[5], "a[5]"),
    "a comparison": (lambda line: line[0] == "2", "(a[0] == '2')"),
    "a remainder": (lambda bid: bid[0] % 123 == 0, "((a[0] % 123) == 0)"),
    "several fields": (lambda bid: (bid[0], bid[2] * 908 // 1000), "(a[0], ((a[2] * 908) // 1000),)"),
    "fields inside each other": (lambda pair: (pair[0][1],), "(a[0][1],)"),
}


def of_nothing() -> Any:
    function = lambda event: event[field]  # noqa: E731
    if not function:
        field = 1
    return function


def changing() -> tuple[Any, Any]:
    field = 0

    def change() -> None:
        nonlocal field
        field += 1

    return lambda event: event[field], change


CHANGING = changing()


CALLED = {
    "a cell that another function assigns to": CHANGING[0],
    "braces from outside": (lambda text: lambda event: event == text)("{0}"),
    "an empty cell": of_nothing(),
    "a global": lambda event: event[FIELD],
    "a float": lambda event: event[0] * 0.5,
    "braces": lambda event: event == "{0}",
    "a call": lambda event: len(event),
    "a choice": lambda event: event[0] if event else event,
    "and": lambda event: event[0] > 1 and event[1] > 1,
    "a slice": lambda event: event[1:],
    "an attribute": lambda event: event.field,
    "a default": lambda event, other=1: event[other],
    "several": lambda *events: events[0],
    "a generator": lambda event: (yield event[0]),
    "a tuple from outside": (lambda part: lambda event: event[part])(PART),
    "getter": operator.itemgetter(1),
    "class": int,
}


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_expressions_of_fields_and_constants_are_known(name: str) -> None:
    function, text = WRITTEN_OUT[name]
    expression = expression_of(function, 1)
    assert expression is not None
    assert expression.of("a") == text


@pytest.mark.parametrize("name", CALLED)
def test_all_others_are_called(name: str) -> None:
    assert expression_of(CALLED[name], 1) is None


def test_an_argument_may_be_unused_and_a_number_come_from_outside() -> None:
    expression = expression_of(of_field(5), 2)
    assert expression is not None
    assert expression.of("a", "b") == "a[5]"
    assert (expression.asks(0), expression.asks(1)) == (True, False)
    assert expression_of(of_field(5), 1) is None


class Late(KeyedProcessFunction):
    """Gives its records, and fails at timers where it is told to."""

    def __init__(self, at: int) -> None:
        self.at = at

    def process_element(self, value: Any, ctx: Any) -> Any:
        ctx.timer_service().register_event_time_timer(value[1])
        yield value

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), timestamp
        yield (ctx.get_current_key(), 1 // (timestamp - self.at))


def failure(form: str, broken: str) -> str:
    """What a program prints and says in a form of chains, with a record that one of its functions cannot take."""
    settings = Configuration().set_string("penstock.native", "off").set_string("penstock.runtime.form", form)
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(1)
    short = {"map": ("a",), "filter": 5, "key": ("a", 1), "time": ("c",)}.get(broken, ("b", 7, 1))
    records = env.from_collection([("a", 1, 1), ("a", 4, 2), short, ("b", 9, 3)], Types.PICKLED_BYTE_ARRAY())
    kept = records.filter(lambda record: record[0] != "never")
    first = kept.map((lambda record: (record[1], record[0])) if broken == "map" else lambda record: record)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda record, _: record[1])
    timed = first if broken == "map" else first.assign_timestamps_and_watermarks(strategy)
    keyed = timed.key_by(lambda record: record[2 if broken == "key" else 0])
    keyed.process(Late(4 if broken == "timer" else -1)).map(lambda record: (record[0], record[1])).print()
    with pytest.raises(JobExecutionError) as caught:
        env.execute()
    return f"{caught.value.operator} {caught.value.function} {caught.value}"


@pytest.mark.parametrize("broken", ["map", "filter", "key", "time", "timer"])
def test_what_fails_is_said_as_where_functions_are_called(broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    messages = [failure(form, broken) for form in ("listed", "fused")]
    assert messages[0] == messages[1]
    assert "test_expressions.py" in messages[0]
    assert "During handling" not in messages[0]
