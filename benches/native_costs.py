"""Programs that native code has nothing to do with: their functions write a log, call other libraries or make objects,
or types are not declared. CPU time with ``penstock.native`` on and off, in turn, in this process."""

from __future__ import annotations

import hashlib
import logging
import random
import resource
import zlib
from collections.abc import Callable
from typing import Any

from penstock.common import Configuration, Types
from penstock.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment, ValueStateDescriptor

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])
Environment = StreamExecutionEnvironment


class Order:
    """An object as Python alone knows it."""

    def __init__(self, key: int, amount: int) -> None:
        self.key = key
        self.amount = amount

    def doubled(self) -> Order:
        return Order(self.key, self.amount * 2)


class Counting(KeyedProcessFunction):
    """Counts by key, and writes a log."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        logging.debug("%s", count)
        yield value[0], count


def logged(number: int) -> int:
    logging.debug("%s", number)
    return number + 1


def digest(number: int) -> str:
    return hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()


def is_rare(text: str) -> bool:
    return zlib.crc32(text.encode()) % 1000 == 0


def checked(pair: tuple[int, int]) -> tuple[int, int]:
    return pair[0], zlib.crc32(str(pair[1]).encode()) % 1000


def summed(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0], (one[1] + zlib.crc32(str(other[1]).encode())) % 100_000


def numbers(env: Environment, records: int) -> DataStream:
    return env.from_collection(range(records), type_info=Types.LONG())


def pairs(env: Environment, records: int) -> DataStream:
    return env.from_collection([(number % 100, number) for number in range(records)], type_info=PAIR)


def writes_a_log(env: Environment, records: int) -> DataStream:
    return numbers(env, records).map(logged, output_type=Types.LONG()).filter(lambda n: logged(n) % 1000 == 0)


def calls_a_library(env: Environment, records: int) -> DataStream:
    return numbers(env, records).map(digest, output_type=Types.STRING()).filter(is_rare)


def declares_nothing(env: Environment, records: int) -> DataStream:
    return env.from_collection(range(records)).map(digest).filter(is_rare)


def makes_objects(env: Environment, records: int) -> DataStream:
    orders = env.from_collection(range(records)).map(lambda number: Order(number % 100, number))
    return orders.map(lambda order: order.doubled()).filter(lambda order: order.amount % 1000 == 0).map(vars)


def reduces_objects(env: Environment, records: int) -> DataStream:
    orders = env.from_collection(range(records)).map(lambda number: Order(number % 100, number))
    sums = orders.key_by(lambda order: order.key).reduce(lambda one, other: Order(one.key, one.amount + other.amount))
    return sums.filter(lambda order: order.amount % 1000 == 0).map(vars)


def reduces_by_a_library(env: Environment, records: int) -> DataStream:
    sums = pairs(env, records).map(checked, output_type=PAIR).key_by(lambda pair: pair[0]).reduce(summed)
    return sums.filter(lambda pair: is_rare(str(pair)))


def has_state_and_a_log(env: Environment, records: int) -> DataStream:
    counts = pairs(env, records).key_by(lambda pair: pair[0]).process(Counting(), output_type=PAIR)
    return counts.filter(lambda pair: is_rare(str(pair)))


def compiles_one_of_three(env: Environment, records: int) -> DataStream:
    first = numbers(env, records).map(logged, output_type=Types.LONG())
    second = first.map(lambda number: number * 2, output_type=Types.LONG())
    return second.map(logged, output_type=Types.LONG()).filter(lambda number: is_rare(str(number)))


def flattens_by_a_library(env: Environment, records: int) -> DataStream:
    texts = numbers(env, records).flat_map(lambda n: [digest(n), digest(-n)], output_type=Types.STRING())
    return texts.filter(lambda text: is_rare(text) and random.random() < 2)


PROGRAMS: dict[str, Callable[[Environment, int], DataStream]] = {
    make.__name__.replace("_", " "): make
    for make in (
        writes_a_log,
        calls_a_library,
        declares_nothing,
        makes_objects,
        reduces_objects,
        reduces_by_a_library,
        has_state_and_a_log,
        compiles_one_of_three,
        flattens_by_a_library,
    )
}


def records(program: str) -> int:
    """How many records a program has: a reduction of objects copies one for each."""
    return 50_000 if program == "reduces objects" else 400_000


def cpu() -> float:
    """CPU seconds of this process so far, and of those that it started."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


def run(program: str, native: str, records: int) -> tuple[list[Any], float]:
    """The results of a program, and the CPU seconds that it took."""
    configuration = Configuration().set_string("penstock.native", native)
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor="local")
    env.set_parallelism(1)
    before = cpu()
    with PROGRAMS[program](env, records).execute_and_collect() as results:
        return list(results), cpu() - before
