"""Peak memory of a job in a process of its own; prints a line of JSON for each.

    python benches/running/memory.py NAME[,NAME…] EXECUTOR SIZE

``peaks`` are bytes: of this process, which is Spark's driver or the local executor, of the largest Python worker, and
of the JVM. ``idle`` is what they had after a job of three records. Results are checked.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tree

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.functions import SinkFunction
from penstock.datastream.window import Time, TumblingEventTimeWindows

Environment = StreamExecutionEnvironment


class Total(SinkFunction):
    """Adds up numbers into a counter, which the job's result has."""

    def open(self, runtime_context: Any) -> None:
        self.total = runtime_context.get_metrics_group().counter("total")

    def invoke(self, value: int) -> None:
        self.total.inc(value)


class Slow(Total):
    """Takes a millisecond for every hundredth record."""

    def open(self, runtime_context: Any) -> None:
        super().open(runtime_context)
        self.count = 0

    def invoke(self, value: int) -> None:
        super().invoke(value)
        self.count += 1
        if self.count % 100 == 0:
            time.sleep(0.001)


def numbers(env: Environment, size: int) -> DataStream:
    """1 to ``size``, from two subtasks."""
    return env.generate_sequence(1, size).set_parallelism(2)


def skewed_sum(env: Environment, size: int) -> int:
    """Running sums of one key: its last one is the total of the input, all of them together what is checked."""
    pairs = numbers(env, size).map(lambda n: ("key", 1), Types.TUPLE([Types.STRING(), Types.LONG()]))
    sums = pairs.key_by(0).sum(1).set_parallelism(2)
    sums.map(lambda pair: pair[1], Types.LONG()).set_parallelism(2).add_sink(Total()).set_parallelism(2)
    return size * (size + 1) // 2


def skewed_window(env: Environment, size: int) -> int:
    """One key, one window, reduced."""
    timed = numbers(env, size).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda n, _: n)
    )
    window = timed.key_by(lambda n: "key", key_type=Types.STRING()).window(TumblingEventTimeWindows.of(Time.days(1)))
    window.reduce(lambda a, b: a + b).set_parallelism(2).add_sink(Total()).set_parallelism(2)
    return size * (size + 1) // 2


def exchange(env: Environment, size: int) -> int:
    """So many records of a kibibyte to two receivers."""
    texts = numbers(env, size).map(lambda n: f"{n:01024}", Types.STRING())
    texts.rebalance().map(int, Types.LONG()).set_parallelism(2).add_sink(Total()).set_parallelism(2)
    return size * (size + 1) // 2


def timed_exchange(env: Environment, size: int) -> int:
    """So many numbers, each with a timestamp of its own, to two receivers."""
    timed = numbers(env, size).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda n, _: 1_600_000_000_000 + 7 * n)
    )
    timed.rebalance().map(lambda n: n, Types.LONG()).set_parallelism(2).add_sink(Total()).set_parallelism(2)
    return size * (size + 1) // 2


def slow_consumer(env: Environment, size: int) -> int:
    """The exchange with a sink that sleeps."""
    texts = numbers(env, size).map(lambda n: f"{n:01024}", Types.STRING())
    texts.rebalance().map(int, Types.LONG()).set_parallelism(2).add_sink(Slow()).set_parallelism(2)
    return size * (size + 1) // 2


def explosion(env: Environment, size: int) -> int:
    """One call of a function that makes so many records."""
    one = env.from_collection([size], Types.LONG())
    many = one.flat_map(lambda n: (i for i in range(n)), Types.LONG())
    many.rebalance().map(lambda n: n, Types.LONG()).set_parallelism(2).add_sink(Total()).set_parallelism(2)
    return size * (size - 1) // 2


def giants(env: Environment, size: int) -> int:
    """So many records of 50 MB."""
    texts = numbers(env, size).map(lambda n: f"{n:050000000}", Types.STRING())
    texts.rebalance().map(len, Types.LONG()).set_parallelism(2).add_sink(Total()).set_parallelism(2)
    return size * 50_000_000


def text_file(env: Environment, size: int) -> int:
    """A file of so many lines of 100 bytes."""
    path = Path(tempfile.gettempdir(), f"penstock-lines-{size}")
    if not path.exists():
        with open(path, "w") as file:
            file.writelines("x" * 99 + "\n" for _ in range(size))
    lines = env.read_text_file(str(path)).set_parallelism(2)
    lines.map(len, Types.LONG()).set_parallelism(2).add_sink(Total()).set_parallelism(2)
    return size * 99


def channels(env: Environment, size: int) -> int:
    """So many records of a kibibyte to a thousand receivers."""
    wide = min(1_000, size)
    texts = numbers(env, size).map(lambda n: f"{n:01024}", Types.STRING())
    texts.key_by(lambda text: text, key_type=Types.STRING()).map(int, Types.LONG()).set_parallelism(wide).add_sink(
        Total()
    ).set_parallelism(wide)
    return size * (size + 1) // 2


def collected(env: Environment, size: int) -> int:
    """So many records of a kibibyte to the driver."""
    texts = numbers(env, size).map(lambda n: f"{n:01024}", Types.STRING())
    with texts.execute_and_collect() as results:
        return sum(map(int, results)) - size * (size + 1) // 2


PROGRAMS: dict[str, Callable[[Environment, int], int]] = {
    program.__name__: program
    for program in (
        skewed_sum,
        skewed_window,
        exchange,
        timed_exchange,
        slow_consumer,
        explosion,
        giants,
        text_file,
        channels,
        collected,
    )
}


def run(name: str, executor: str, size: int) -> dict[str, Any]:
    """Run a program, check its result, and tell what it took."""
    env = Environment.get_execution_environment(
        executor=executor, **({"master": "local[2]"} if executor == "spark" else {})
    )
    started = time.perf_counter()
    expected = PROGRAMS[name](env, size)
    if name != "collected":
        result = env.execute(name).get_accumulator_result("total")
        assert result == expected, (result, expected)
    else:
        assert not expected
    return {"seconds": time.perf_counter() - started, "peaks": tree.peak_bytes()}


def main(names: str, executor: str, size: str) -> None:
    """Warm up, then measure; after the first of several programs a peak may be that of one before."""
    tree.adopt()
    idle = run("exchange", executor, 3)["peaks"]
    for name in names.split(","):
        print(json.dumps({"idle": idle, **run(name, executor, int(size))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
