"""Programs whose difference is one kind of output: what it costs per record, in this process, without Spark.

Each kind is two programs over the same numbers, of which one has it so many times more often. The CPU time they differ
by, divided by that, is what the kind costs, with the call of the user's function behind it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.common import Configuration, OutputTag, Types
from penstock.datastream import ProcessFunction, StreamExecutionEnvironment

MANY = 8
FORMS = ("fused", "listed")
_SIDE = OutputTag("side", Types.LONG())


@dataclass(frozen=True)
class Program:
    """Operators behind a stream of numbers.

    Attributes:
        build: adds them.
        reuse: whether objects are reused, which means that nothing is copied.
    """

    build: Callable[[Any], Any]
    reuse: bool = False

    def spent(self, form: str, numbers: int) -> float:
        """CPU seconds of running it."""
        settings = Configuration().set_string("penstock.runtime.form", form)
        settings.set_boolean("pipeline.object-reuse", self.reuse)
        env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
        self.build(env.generate_sequence(0, numbers - 1))
        gc.collect()
        before = time.process_time()
        result = env.execute("outputs")
        after = time.process_time()
        assert result.metrics["sink"].records_in == numbers
        return after - before


def measure(kind: str, form: str, numbers: int, rounds: int) -> list[float]:
    """CPU seconds per round that the kind costs for all numbers."""
    more, less, times = KINDS[kind]
    return [max(more.spent(form, numbers) - less.spent(form, numbers), 0) / times for _ in range(rounds)]


def same(value: Any) -> Any:
    return value


def in_list(number: int) -> list[int]:
    return [number]


def in_tuple(number: int) -> tuple[int, int]:
    return number, number


def always(number: int) -> bool:
    return True


def ignore(value: Any) -> None:
    """A sink that does nothing."""


class Emit(ProcessFunction):
    """Emits each number to the main output and, if there is a tag, to its side output."""

    def __init__(self, *, side: bool) -> None:
        self.side = side

    def process_element(self, value: int, ctx: ProcessFunction.Context) -> Any:
        yield value
        if self.side:
            yield _SIDE, value


def sink(stream: Any, name: str = "sink") -> None:
    stream.add_sink(ignore).uid(name).name(name)


def maps(count: int) -> Callable[[Any], None]:
    def build(numbers: Any) -> None:
        for _ in range(count):
            numbers = numbers.map(same, output_type=Types.LONG())
        sink(numbers)

    return build


def filters(count: int) -> Callable[[Any], None]:
    def build(numbers: Any) -> None:
        for _ in range(count):
            numbers = numbers.filter(always)
        sink(numbers)

    return build


def readers(count: int, function: Callable[[int], Any], record_type: Any = None) -> Callable[[Any], None]:
    def build(numbers: Any) -> None:
        stream = numbers.map(function, output_type=record_type)
        for number in range(count):
            sink(stream, f"sink {number}" if number else "sink")

    return build


def emitting(*, side: bool) -> Callable[[Any], None]:
    def build(numbers: Any) -> None:
        stream = numbers.process(Emit(side=side), output_type=Types.LONG())
        sink(stream)
        if side:
            sink(stream.get_side_output(_SIDE), "beside")

    return build


def exchanged(numbers: Any) -> None:
    sink(numbers.map(same, output_type=Types.LONG()).rebalance())


KINDS: dict[str, tuple[Program, Program, int]] = {
    "chaining": (Program(maps(1 + MANY)), Program(maps(1)), MANY),
    "chaining, counting what a filter lets through": (Program(filters(1 + MANY)), Program(filters(1)), MANY),
    "copying a list": (Program(readers(2, in_list)), Program(readers(2, in_list), reuse=True), 1),
    "copying a tuple of undeclared type": (Program(readers(2, in_tuple)), Program(readers(2, in_tuple), reuse=True), 1),
    "broadcasting to one reader more": (Program(readers(2, same, Types.LONG())), Program(readers(1, same)), 1),
    "side output": (Program(emitting(side=True)), Program(emitting(side=False)), 1),
    "record writer, and the reader's side": (Program(exchanged), Program(maps(1)), 1),
}
