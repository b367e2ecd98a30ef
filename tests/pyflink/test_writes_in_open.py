"""What ``open()`` does to state of a key before there is one: PyFlink loses what it writes, refuses what it reads."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common import Configuration, Types
from penstock.datastream import (
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from penstock.errors import JobExecutionError
from tests.pyflink.test_deviations import RULES, program
from tests.running import collected


class WritesInOpen(KeyedProcessFunction[Any, Any, Any]):
    """Writes into state before there is a key, and shows what each key finds."""

    def __init__(self, write: Any) -> None:
        self._write = write

    def open(self, runtime_context: Any) -> None:
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.INT()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.INT()))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT()))
        self._write(self)

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value, self.value.value(), list(self.list.get()), dict(self.map.items())
        self.map.put("seen", value)


WRITES: dict[str, Any] = {
    "put": lambda f: [f.map.put("x", 1), f.map.put("y", 1)],
    "put_all": lambda f: f.map.put_all({"x": 1}),
    "remove": lambda f: f.map.remove("x"),
    "update": lambda f: f.value.update(1),
    "update of a list": lambda f: f.list.update([1]),
    "add": lambda f: f.list.add(1),
    "clear": lambda f: f.map.clear(),
}
READS: dict[str, Any] = {
    "value": lambda f: f.value.value(),
    "get": lambda f: f.map.get("x"),
    "items": lambda f: f.map.items(),
}
"""What PyFlink refuses too, as measured."""


def writing(env: Any, write: Any) -> list[Any]:
    """What the keys find."""
    keyed = env.from_collection([1, 2, 1], type_info=Types.INT()).key_by(lambda x: x, key_type=Types.INT())
    return collected(keyed.process(WritesInOpen(write)))


@pytest.mark.parametrize("backend", ["memory", "disk"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_open_writes_into_state_of_a_key_is_lost(
    write: Any, backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    env = program(pyflink=True)
    env.configure(Configuration({"penstock.state.backend": backend}))
    assert writing(env, write) == [(1, None, [], {}), (2, None, [], {}), (1, None, [], {"seen": 1})]
    assert [record.getMessage().partition(" while")[0][:28] for record in caplog.records] == [
        "open() writes into the state"
    ]
    with pytest.raises(JobExecutionError, match="was used while no key is current"):
        writing(program(), write)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_what_open_reads_of_a_key_is_refused(read: Any) -> None:
    with pytest.raises(JobExecutionError, match="was used while no key is current"):
        writing(program(pyflink=True), read)


def test_an_element_of_a_broadcast_has_no_key_to_write_for() -> None:
    class Writes(KeyedBroadcastProcessFunction[Any, Any, Any, Any]):
        def open(self, runtime_context: Any) -> None:
            self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.INT()))

        def process_element(self, value: Any, ctx: Any) -> Any:
            return None

        def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
            self.value.update(1)

    env = program(pyflink=True)
    numbers = env.from_collection([1], type_info=Types.INT())
    with pytest.raises(JobExecutionError, match="was used while no key is current"):
        collected(numbers.key_by(lambda x: x).connect(numbers.broadcast(RULES)).process(Writes()))
