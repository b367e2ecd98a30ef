"""A job that dies leaves no visible half file, whatever the format and whenever it dies; what is committed is whole."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import fastavro
import pyarrow.parquet as pq
import pytest

from penstock.common import Configuration, RestartStrategies
from penstock.common.data_types import DataTypes as D
from penstock.connectors.files import bulk_sink
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.formats import (
    AvroBulkWriters,
    AvroSchema,
    CsvBulkWriters,
    CsvSchema,
    OrcBulkWriters,
    ParquetBulkWriters,
)
from penstock.errors import JobExecutionError
from tests.datastream.file_sinks import Remainder
from tests.formats.programs import sink
from tests.job.commit.crashes import clean, dies_at

SCHEMA = AvroSchema.parse_string('{"type": "record", "name": "N", "fields": [{"name": "n", "type": "long"}]}')
ROW_TYPE = D.ROW([D.FIELD("n", D.BIGINT())])
SMALL_GROUPS = Configuration().set_string("parquet.block.size", "1")
FACTORIES = {
    "csv": CsvBulkWriters.for_schema(CsvSchema.builder().add_number_column("n").build()),
    "avro": AvroBulkWriters.for_generic_record(SCHEMA),
    "parquet": ParquetBulkWriters.for_row_type(ROW_TYPE, SMALL_GROUPS),
    "orc": OrcBulkWriters.for_row_type(ROW_TYPE),
}


class Buckets(Remainder):
    """Three of them."""

    def get_bucket_id(self, element, context, /):
        return super().get_bucket_id(element[0], context)


def run(folder, factory, count=9, function=None, restart=None):
    env = StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(2)
    if restart is not None:
        env.set_restart_strategy(restart)
    stream = env.from_collection([(number,) for number in range(count)])
    stream = stream.map(function) if function is not None else stream
    stream.rebalance().sink_to(sink(folder, factory, Buckets()))
    env.execute()


def visible(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("part-*") if "/." not in str(path.relative_to(folder.parent))]


def numbers(path: Path, name: str) -> list[int]:
    """What a file holds; any reader refuses a half one."""
    if name == "csv":
        return [int(line) for line in path.read_text().splitlines()]
    if name == "avro":
        return [record["n"] for record in fastavro.reader(path.open("rb"))]
    return pq.read_table(path).column("n").to_pylist()


def everything(folder: Path, name: str) -> list[int]:
    return sorted(number for path in visible(folder) for number in numbers(path, name))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step"), [("csv", 3), ("avro", 7), ("parquet", 17)])
def test_killed_before_any_change_of_the_file_system(tmp_path, name, step):
    def work(folder):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("penstock.connectors.files.file_sink._WAITING_BYTES", 1)
            patch.setattr(bulk_sink, "_BATCH", 2)
            run(folder, FACTORIES[name])

    at, seen = 0, set()
    while True:
        folder = tmp_path / str(at) / "out"
        died = dies_at(at, partial(work, folder))
        numbers = everything(folder, name)
        assert set(numbers) <= set(range(9))
        assert len(numbers) == len(set(numbers))
        clean(folder.parent)
        seen.add(tuple(everything(folder, name)))
        if not died:
            break
        at += step
    assert at > 20
    assert seen == {(), tuple(range(9))}


@pytest.mark.parametrize("name", FACTORIES)
def test_a_failed_job_leaves_nothing(tmp_path, name):
    with pytest.raises(JobExecutionError, match="ZeroDivisionError"):
        run(tmp_path, FACTORIES[name], 5_000, lambda record: (record[0] + 0 // (record[0] - 4_999),))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["avro", "parquet"])
def test_of_a_job_that_is_tried_again_one_attempt_counts(tmp_path, name):
    def once(record):
        marker = tmp_path / "failed"
        if record[0] == 2_999 and not marker.exists():
            marker.touch()
            raise ValueError("once")
        return record

    run(tmp_path / "out", FACTORIES[name], 3_000, once, RestartStrategies.fixed_delay_restart(1, 0))
    assert (tmp_path / "failed").exists()
    assert everything(tmp_path / "out", name) == list(range(3_000))
    assert len(visible(tmp_path / "out")) == 6


@pytest.mark.parametrize(("records", "size"), [(3, 1 << 30), (50_000, 100)])
def test_what_waits_in_memory_makes_no_difference(tmp_path, monkeypatch, records, size):
    monkeypatch.setattr(bulk_sink, "_MOST_RECORDS", records)
    monkeypatch.setattr(bulk_sink, "_MOST_BYTES", size)
    for name in ("csv", "avro", "parquet"):
        run(tmp_path / name, FACTORIES[name], 1_500)
        assert everything(tmp_path / name, name) == list(range(1_500))


def test_a_record_that_is_changed_after_it_was_emitted_is_written_as_it_was(tmp_path):
    def same_list(record, kept=[[0]]):  # noqa: B006 - the same object each time
        kept[0][0] = record[0]
        return kept[0]

    run(tmp_path, FACTORIES["csv"], 50, same_list)
    assert everything(tmp_path, "csv") == list(range(50))
