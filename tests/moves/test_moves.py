"""Programs that ran in the real Flink over the first half of their input go on in Penstock over the second half.

``RESTORED`` is the switch of all tests that begin from a savepoint of Flink.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from penstock.common import Configuration, Instant, Row
from penstock.datastream import SourceFunction, StreamExecutionEnvironment, TimeCharacteristic
from penstock.errors import SavepointError
from tests.effort import one_of
from tests.moves.golden import lines, savepoint
from tests.moves.programs import PROGRAMS, RECORD

RESTORED = True
"""Whether Penstock begins from savepoints of Flink."""

SPARK = (
    *("map_counts", "several_states", "ttl_list", "values_row", "key_tuple", "timers_deleted", "keyed_max_by"),
    *("tumbling_aggregate", "session_process", "late_side_output", "trigger_own", "count_window", "evictor_time"),
    *("interval_join", "co_group", "co_process", "broadcast_keyed"),
)
"""The sample that runs on Spark."""

REFUSED = {"async_ordered": "_async_wait_operator_state_", "async_unordered": "_async_wait_operator_state_"}
"""Programs whose state no operator of Penstock takes, and the name of that state."""

ALL = {f"{line['name']}-{line['flink']}-{line['kind']}": line for line in lines()}
MOVES = {move: line for move, line in ALL.items() if line["name"] not in REFUSED}
RESCALED = [
    (move, parallelism)
    for move, line in MOVES.items()
    if line["kind"] == "canonical"
    for parallelism in {1: (2, 3), 2: (1, 3), 3: (1, 5), 4: (1, 6)}[line["parallelism"]]
]
only_restored = pytest.mark.skipif(not RESTORED, reason="no job of Penstock begins from a savepoint of Flink")


class Items(SourceFunction):
    """Emits records at their times, and watermarks. None: all before it is processed first."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def run(self, ctx: Any) -> None:
        for item in self.items:
            if item is None:
                ctx.end_round()
            elif isinstance(item, list):
                ctx.collect_with_timestamp(tuple(item), item[2])
            else:
                ctx.emit_watermark(item)


def bag(values: list[Any]) -> Counter[str]:
    """Outputs in any order."""
    return Counter(json.dumps(flat(value)) for value in values)


def flat(value: Any) -> Any:
    """An output of Flink, without the names of fields: rows and POJOs as arrays."""
    if isinstance(value, dict):
        return [flat(field) for field in value.get("fields", value.values())]
    return [flat(field) for field in value] if isinstance(value, list) else value


def plain(value: Any) -> Any:
    """An output of Penstock in the same form."""
    if isinstance(value, dict):
        return [[plain(key), plain(field)] for key, field in value.items()]
    if isinstance(value, tuple | list | Row):
        return [plain(field) for field in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Instant):
        value = value.to_datetime().replace(tzinfo=None)
    if isinstance(value, date):
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        return (moment.isoformat().rstrip("0") if moment.microsecond else moment.isoformat()) + "Z"
    large = isinstance(value, int) and not -(2**63) <= value < 2**63
    return str(value) if large or isinstance(value, Decimal) else value


def outputs(
    line: dict[str, Any], items: list[Any], parallelism: int, begin: str | None = None, spark: Any = None
) -> list[Any]:
    """What the program of a line puts out, here or on Spark, from a savepoint or from nothing."""
    configuration = Configuration({} if begin is None else {"execution.savepoint.path": begin})
    where: dict[str, Any] = {"executor": "local"} if spark is None else {"spark": spark}
    env = StreamExecutionEnvironment.get_execution_environment(configuration, **where)
    env.set_parallelism(parallelism).set_max_parallelism(line["max_parallelism"])
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    records = env.add_source(Items(items), "records", RECORD).uid("records")
    with PROGRAMS[line["name"]](env, records).execute_and_collect() as results:
        return [plain(value) for value in results]


def goes_on(line: dict[str, Any], parallelism: int, spark: Any = None) -> None:
    """Hold a job that begins from Flink's savepoint against Flink's own outputs."""
    after = outputs(line, line["second"], parallelism, savepoint(line), spark)
    assert bag(line["before"]) + bag(after) == bag(line["whole"])


def test_each_program_has_a_record() -> None:
    assert {line["name"] for line in lines()} == set(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_means_what_it_means_in_flink(name: str) -> None:
    versions = [line for line in lines() if line["name"] == name]
    now = outputs(versions[0], versions[0]["first"] + versions[0]["second"], versions[0]["parallelism"])
    assert all(bag(now) == bag(line["whole"]) for line in versions)


@pytest.mark.parametrize("name", list(PROGRAMS)[:: one_of(7)])
def test_a_program_does_not_go_on_without_its_state(name: str) -> None:
    """Otherwise the tests below would say nothing."""
    line = next(line for line in lines() if line["name"] == name)
    assert bag(line["before"] + outputs(line, line["second"], line["parallelism"])) != bag(line["whole"])


@only_restored
@pytest.mark.parametrize("move", list(MOVES)[:: one_of(7)])
def test_a_job_of_flink_goes_on(move: str) -> None:
    goes_on(MOVES[move], MOVES[move]["parallelism"])


@only_restored
@pytest.mark.parametrize(("move", "parallelism"), RESCALED[:: one_of(7)])
def test_a_job_of_flink_goes_on_with_other_subtasks(move: str, parallelism: int) -> None:
    goes_on(MOVES[move], parallelism)


@only_restored
@pytest.mark.parametrize("move", [move for move in ALL if move not in MOVES])
def test_state_that_no_operator_takes_is_refused(move: str) -> None:
    line = ALL[move]
    with pytest.raises(SavepointError, match=REFUSED[line["name"]]):
        outputs(line, line["second"], line["parallelism"], savepoint(line))


@only_restored
@pytest.mark.spark
@pytest.mark.parametrize("name", SPARK)
def test_a_job_of_flink_goes_on_on_spark(spark: Any, name: str) -> None:
    goes_on(MOVES[f"{name}-2.3.0-canonical"], 2, spark)
