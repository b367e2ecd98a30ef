"""Programs that ran in the real Flink over the first half of their input go on in Penstock over the second half.

``RESTORED`` is the switch of all tests that begin from a savepoint of Flink.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.common.row import Row
from penstock.datastream import SourceFunction, StreamExecutionEnvironment, TimeCharacteristic
from tests.moves.golden import lines, savepoint
from tests.moves.programs import PROGRAMS, RECORD

RESTORED = False
"""Whether Penstock begins from savepoints of Flink."""

SPARK = ("value_count", "map_counts", "timers_event", "session_process", "interval_join")
"""The sample that runs on Spark."""

MOVES = {f"{line['name']}-{line['flink']}": line for line in lines()}
RESCALED = [
    (move, parallelism)
    for move, line in MOVES.items()
    for parallelism in {1: (2, 3), 2: (1, 3), 3: (1, 5)}[line["parallelism"]]
]
only_restored = pytest.mark.skipif(not RESTORED, reason="no job of Penstock begins from a savepoint of Flink")


class Items(SourceFunction):
    """Emits records at their times, and watermarks."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def run(self, ctx: Any) -> None:
        for item in self.items:
            if isinstance(item, list):
                ctx.collect_with_timestamp(tuple(item), item[2])
            else:
                ctx.emit_watermark(item)


def bag(outputs: list[Any]) -> Counter[str]:
    """Outputs in any order, as the golden files write them."""
    return Counter(map(json.dumps, outputs))


def plain(value: Any) -> Any:
    """An output in the form of the golden files."""
    if isinstance(value, Row):
        return {"kind": "+I", "fields": [plain(field) for field in value]}
    return [plain(field) for field in value] if isinstance(value, list | tuple) else value


def outputs(
    line: dict[str, Any], items: list[Any], parallelism: int, begin: str | None = None, executor: str = "local"
) -> list[Any]:
    """What the program of a line puts out."""
    configuration = Configuration({} if begin is None else {"execution.savepoint.path": begin})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor=executor)
    env.set_parallelism(parallelism).set_max_parallelism(line["max_parallelism"])
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    records = env.add_source(Items(items), "records", RECORD).uid("records")
    with PROGRAMS[line["name"]](env, records).execute_and_collect() as results:
        return [plain(value) for value in results]


def goes_on(line: dict[str, Any], parallelism: int, executor: str = "local") -> None:
    """Hold a job that begins from Flink's savepoint against Flink's own outputs."""
    after = outputs(line, line["second"], parallelism, savepoint(line), executor)
    assert bag(line["before"]) + bag(after) == bag(line["whole"])


def test_each_program_has_a_record() -> None:
    assert {line["name"] for line in lines()} == set(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_means_what_it_means_in_flink(name: str) -> None:
    line = next(line for line in lines() if line["name"] == name)
    assert all(
        other["whole"] == line["whole"] or bag(other["whole"]) == bag(line["whole"])
        for other in lines()
        if other["name"] == name
    )
    assert bag(outputs(line, line["first"] + line["second"], line["parallelism"])) == bag(line["whole"])


@only_restored
@pytest.mark.parametrize("move", MOVES)
def test_a_job_of_flink_goes_on(move: str) -> None:
    goes_on(MOVES[move], MOVES[move]["parallelism"])


@only_restored
@pytest.mark.parametrize(("move", "parallelism"), RESCALED)
def test_a_job_of_flink_goes_on_with_other_subtasks(move: str, parallelism: int) -> None:
    goes_on(MOVES[move], parallelism)


@only_restored
@pytest.mark.spark
@pytest.mark.parametrize("name", SPARK)
def test_a_job_of_flink_goes_on_on_spark(name: str) -> None:
    goes_on(MOVES[f"{name}-2.3.0"], 2, "spark")
