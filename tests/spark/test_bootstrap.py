"""State that executors make of DataFrames, and read as DataFrames: the same as that of one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.common import Types
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.errors import SavepointError
from penstock.job.savepoint.contents import verify
from penstock.job.savepoint.store import read_savepoint
from penstock.savepoints import KeyedStateBootstrapFunction, Savepoint, SavepointWriter
from penstock.spark.inside_pyspark import batches_of
from tests.savepoints.programs import ALL, BY, FRESH, LAST, PAIRS, PEOPLE, SUM, outputs

pytestmark = pytest.mark.spark

SCHEMA = "id string, last bigint, all array<bigint>, by map<string,bigint>, person struct<name:string,age:bigint>"
ROWS = [(f"k{n % 50}", n, [n, n + 1], {"odd" if n % 2 else "even": n}, (f"p{n}", n)) for n in range(400)]
COLUMNS: dict[Any, Any] = {LAST: "last", ALL: "all", BY: "by", PEOPLE: "person", SUM: "last", FRESH: "last"}
SEEN = ListStateDescriptor("seen", Types.LONG())
RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
NAMES = ("last", "all", "by", "person", "sum")


class WithTimers(KeyedStateBootstrapFunction):
    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(LAST)

    def process_element(self, value: Any, ctx: Any) -> None:
        self.last.update(value["last"])
        ctx.timer_service().register_event_time_timer(value["last"])


def contents(savepoint: Savepoint) -> dict[str, Any]:
    return {name: sorted(savepoint.read("many", name).rows, key=repr) for name in NAMES}


def test_executors_make_what_one_process_makes(spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame(ROWS, SCHEMA).repartition(3, "by")
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    here = SavepointWriter().with_keyed_state("many", rows, "id", Types.STRING(), COLUMNS).write(tmp_path / "here")
    writer = SavepointWriter().with_keyed_state("many", frame, "id", Types.STRING(), COLUMNS, parallelism=3)
    writer = writer.with_list_state("many", SEEN, range(10))
    on_spark = writer.with_broadcast_state("many", RULES, {"limit": 5}).write(tmp_path / "there")
    assert verify(read_savepoint(on_spark.place)).problems == ()
    assert contents(on_spark) == contents(here)
    assert on_spark.read("many", "rules").rows == [("limit", 5)]
    dealt = [0] * 3 + [1] * 3 + [2] * 4
    assert sorted(on_spark.read("many", "seen").rows) == [(subtask, n) for n, subtask in enumerate(dealt)]
    [operator] = on_spark.operators()
    assert (operator.parallelism, operator.files) == (3, 3)

    read = {name: on_spark.to_spark(spark, "many", name) for name in ("last", "by")}
    assert read["last"].schema.simpleString() == "struct<key:string,value:bigint>"
    for name, computed in read.items():
        table = pa.Table.from_batches(batches_of(computed))
        assert table.sort_by("key") == here.read("many", name).to_arrow().sort_by("key")
    fresh = on_spark.to_spark(spark, "many", "fresh")
    assert fresh.columns == ["key", "value", "last_access"]
    assert fresh.rdd.getNumPartitions() == 3
    expected = outputs(tmp_path / "one", PAIRS, begin=tmp_path / "here", source="more")
    assert outputs(tmp_path / "two", PAIRS, begin=tmp_path / "there", source="more") == expected


def test_timers_and_functions_of_rows(spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame(ROWS, SCHEMA)
    key = lambda row: row["id"]  # noqa: E731
    writer = SavepointWriter().with_keyed_state("many", frame, key, Types.STRING(), WithTimers())
    savepoint = writer.rename_uid("many", "other").set_max_parallelism("other", 256).write(tmp_path / "made")
    assert [row[1] for row in savepoint.timers("other").rows] == list(range(400))
    [operator] = savepoint.operators()
    assert (operator.uid, operator.parallelism, operator.max_parallelism) == ("other", 2, 256)
    files = {path.name for path in Path(savepoint.place, "state").iterdir()}
    assert files == set(read_savepoint(savepoint.place).manifest.files())


def test_what_cannot_be_is_said_before_there_is_a_savepoint(spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame(ROWS, SCHEMA)
    wrong = ValueStateDescriptor("wrong", Types.LONG())
    for key, states, why in (
        (
            "id",
            {wrong: "id"},
            r"The state 'wrong' of the key 'k\d+' would have 'k\d+', which is not of its declared type",
        ),
        ("all", {LAST: "last"}, "The row .* has no key"),
        ("none", {LAST: "last"}, "The row .* has no .*column 'none'"),
        ("id", {LAST: lambda row: 1 // 0}, "could not be made on Spark: .*ZeroDivisionError"),
    ):
        writer = SavepointWriter().with_keyed_state("many", frame, key, Types.STRING(), states)
        with pytest.raises(SavepointError, match=f"(?s){why}"):
            writer.write(tmp_path / "new")
        assert not (tmp_path / "new" / "savepoint.json").exists()
    savepoint = SavepointWriter().with_keyed_state("many", ROWS, lambda row: row[0], None, {LAST: lambda row: row[1]})
    written = savepoint.write(tmp_path / "undeclared")
    with pytest.raises(SavepointError, match="does not record the types of the keys and values of 'last'"):
        written.to_spark(spark, "many", "last")
    assert written.read("many", "last").to_spark(spark).count() == 50
    with pytest.raises(SavepointError, match="has no keyed state 'none'"):
        written.to_spark(spark, "many", "none")
