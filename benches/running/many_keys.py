"""A program with so many keys that their state is on disk, in a process with little memory; prints a line of JSON.

    python benches/running/many_keys.py KEYS MEBIBYTES [timers]

``peak`` is in bytes, ``cpu`` in seconds, both of this process, which is the local executor. Its address space is
limited to so many mebibytes, so it fails where it needs more.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator

from penstock.common import Configuration, Types
from penstock.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment, ValueStateDescriptor

SETTINGS = {"penstock.executor": "local", "penstock.state.backend": "disk", "penstock.state.memory": "256 mb"}
SPREAD = 7_919
"""Times of timers are spread by this number."""


class Count(KeyedProcessFunction):
    """Counts the records of a key, and emits the key at its second record, or when its timer fires."""

    def __init__(self, timers: bool) -> None:
        self.timers = timers

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Iterator[int]:
        seen = (self.count.value() or 0) + 1
        self.count.update(seen)
        if self.timers:
            ctx.timer_service().register_event_time_timer(value * SPREAD % 1_000_003)
        elif seen > 1:
            yield value

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[int]:
        if timestamp % 1_000 == 0:
            yield timestamp


def run(keys: int, timers: bool) -> int:
    """How many results there are."""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(SETTINGS))
    numbers = env.generate_sequence(0, keys - 1).set_parallelism(1)
    spread = numbers.map(lambda n: n * 2_654_435_761 % keys, Types.LONG())
    results = spread.key_by(lambda n: n, key_type=Types.LONG()).process(Count(timers), Types.LONG())
    return sum(1 for _ in results.execute_and_collect())


def main() -> None:
    keys, limit, timers = int(sys.argv[1]), int(sys.argv[2]) << 20, "timers" in sys.argv
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    start = time.process_time()
    results = run(keys, timers)
    expected = sum(1 for key in range(keys) if key * SPREAD % 1_000_003 % 1_000 == 0) if timers else 0
    assert results == expected, (results, expected)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    print(json.dumps({"keys": keys, "cpu": time.process_time() - start, "peak": peak}))


if __name__ == "__main__":
    main()
