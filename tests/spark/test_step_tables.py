"""Tables of Spark step by step: rows wait in files until their step counts, and a step that comes again is known."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Types
from penstock.datastream.connectors import SparkSink
from penstock.datastream.connectors.spark import _has_snapshot, _marked
from penstock.errors import InvalidProgramError, JobExecutionError
from penstock.job.steps.outputs import Outputs
from penstock.runtime.operators.sink import StreamSink
from penstock.spark.frames import parameters, write_step
from tests.job.programs import Program
from tests.job.steps.looping import FOLDER_ID, Sinks, in_steps

NUMBERED = Types.ROW_NAMED(["word", "n"], [Types.STRING(), Types.LONG()])


def deployed(folder: Path, sink: SparkSink[Any], *, resumed: bool = False):
    program = Program()
    source = program.source([1], type=NUMBERED)
    program.add(
        StreamSink(sink.runtime_for(NUMBERED)), source, p=2, partitioner="REBALANCE", name="Sink: Table", type=NUMBERED
    )
    return in_steps(program.pipeline(), str(folder), resumed=resumed)


class Table:
    """A table that refuses what it has got already."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.got: dict[str, int] = {}
        self.calls = 0

    def write(self, frame: Any, batch_id: int, owner: str) -> None:
        self.calls += 1
        rows = sorted(map(tuple, frame.collect()))
        if self.got.get(owner, 0) < batch_id:
            self.rows += rows
            self.got[owner] = batch_id


@pytest.fixture
def table():
    return Table()


def outputs_of(spark, deployment, *, resumed=False):
    return Outputs(deployment, resumed=resumed, write_table=partial(write_step, spark, {}))


def test_rows_are_written_step_by_step_and_once(spark, tmp_path, table):
    deployment = deployed(tmp_path, SparkSink(table.write))
    with outputs_of(spark, deployment) as outputs:
        outputs.recover((), 0)
        sinks = Sinks(deployment, {})
        first = outputs.put_together(sinks.step(1, [("a", 1), ("b", 2), ("c", 3)]))
        assert table.rows == []
        outputs.publish(first, 1)
        assert table.rows == [("a", 1), ("b", 2), ("c", 3)]
        outputs.publish(first, 1)
        assert outputs.put_together(sinks.step(2, [])) == ()
        outputs.publish((), 2)
        second = outputs.put_together(sinks.step(3, [("d", 4)]))
    again = deployed(tmp_path, SparkSink(table.write), resumed=True)
    with outputs_of(spark, again, resumed=True) as outputs:
        table.write(spark.createDataFrame([("d", 4)], "word string, n long"), 3, FOLDER_ID)  # it died behind this
        outputs.recover(second, 3)
    assert table.rows == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    assert table.calls == 3
    assert [path for path in tmp_path.rglob("*") if path.name.startswith(".")] == []


def test_a_writer_that_fails_is_named_and_asked_again(spark, tmp_path):
    calls = []

    def write(frame: Any) -> None:
        calls.append(frame.count())
        if len(calls) == 1:
            raise ValueError("the table is locked")

    deployment = deployed(tmp_path, SparkSink(write))
    with outputs_of(spark, deployment) as outputs:
        first = outputs.put_together(Sinks(deployment, {}).step(1, [("a", 1)]))
        with pytest.raises(JobExecutionError, match=r"'Sink: Table' could not write version 1 .*the table is locked"):
            outputs.publish(first, 1)
        outputs.publish(first, 1)
    assert calls == [1, 1]


def test_a_description_appends_in_each_step(spark, tmp_path):
    deployment = deployed(tmp_path / "job", SparkSink(format="json", path=str(tmp_path / "out"), mode="append"))
    with outputs_of(spark, deployment) as outputs:
        sinks = Sinks(deployment, {})
        for version, word in enumerate("ab", 1):
            outputs.publish(outputs.put_together(sinks.step(version, [(word, version)])), version)
    assert sorted(map(tuple, spark.read.json(str(tmp_path / "out")).select("word", "n").collect())) == [
        ("a", 1),
        ("b", 2),
    ]


@pytest.mark.parametrize(
    ("write", "count"),
    [
        (lambda df: None, 1),
        (lambda df, batch_id: None, 2),
        (lambda df, batch_id=None: None, 2),
        (lambda df, mode="append": None, 1),
        (lambda *arguments: None, 3),
        (print, 3),
    ],
)
def test_a_function_gets_what_it_takes(write, count):
    assert parameters(write) == count


def test_tables_are_told_the_step():
    assert _marked("delta", "orders-f", 7) == {"txnAppId": "orders-f", "txnVersion": "7"}
    assert _marked("iceberg", "orders-f", 7) == {"snapshot-property.penstock.orders-f": "7"}


def test_the_snapshots_of_iceberg_are_looked_at(spark):
    class Session:
        catalog = type("", (), {"tableExists": staticmethod(lambda name: name == "t")})

        def table(self, name: str) -> Any:
            assert name == "t.snapshots"
            rows = [({"penstock.o": "9"},), ({"penstock.o": "10"},), ({"other": "99"},)]
            return spark.createDataFrame(rows, "summary map<string,string>")

    assert [_has_snapshot(Session(), "t", "o", version) for version in (9, 10, 11)] == [True, True, False]
    assert not _has_snapshot(Session(), "t", "p", 1)
    assert not _has_snapshot(Session(), "u", "o", 1)


@pytest.mark.parametrize(
    "options", [{"format": "orc"}, {"format": "iceberg"}, {"format": "delta", "mode": "overwrite"}]
)
def test_only_tables_that_remember_are_told(options):
    with pytest.raises(InvalidProgramError, match="Only tables of Delta and Iceberg"):
        SparkSink(path="/t", exactly_once="orders", **{"mode": "append", **options})
