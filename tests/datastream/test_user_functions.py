"""What user functions are given: state with a default of its own per key, a sink's context only when asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from penstock.datastream import KeyedProcessFunction, SinkFunction, StreamExecutionEnvironment


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor="local")


class Nested(KeyedProcessFunction):
    """Changes the default it was given, inside."""

    def open(self, runtime_context: Any) -> None:
        self.state = runtime_context.get_state(SimpleNamespace(name="nested", default_value=[[]]))

    def process_element(self, value: Any, ctx: Any) -> Any:
        lists = self.state.value()
        lists[0].append(value)
        yield value, [list(inner) for inner in lists]


def test_a_default_value_is_not_shared_between_keys(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection([1, 2, 3]).key_by(lambda value: value).process(Nested())
    with stream.execute_and_collect() as records:
        assert list(records) == [(1, [[1]]), (2, [[2]]), (3, [[3]])]


class Invoked(SinkFunction):
    def invoke(self, value: Any, context: Any = None) -> None:
        print(value, context.timestamp())


def required(value: Any, what: Any) -> None:
    print(value, what.timestamp())


def with_a_default_of_its_own(value: Any, end: str = "!\n") -> None:
    print(value, end=end)


@pytest.mark.parametrize(
    ("sink", "printed"),
    [
        (print, "1\n2\n"),
        (with_a_default_of_its_own, "1!\n2!\n"),
        (required, "1 None\n2 None\n"),
        (Invoked(), "1 None\n2 None\n"),
    ],
)
def test_a_sink_gets_the_context_only_if_it_asks(
    env: StreamExecutionEnvironment, capsys: pytest.CaptureFixture[str], sink: Any, printed: str
) -> None:
    env.from_collection([1, 2]).add_sink(sink)
    env.execute()
    assert capsys.readouterr().out == printed
