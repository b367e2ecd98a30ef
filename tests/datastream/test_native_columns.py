"""Columns out of Parquet and into functions of batches: the same with native code and without."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from penstock.common import Time, Types, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.connectors import FileSource
from penstock.datastream.formats import ParquetColumnarRowInputFormat
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.runtime import native
from tests.datastream.test_native import Program, outcome

LONG, DOUBLE = Types.LONG(), Types.DOUBLE()
PAIR = Types.TUPLE([LONG, DOUBLE])
NAMES = ["key", "value", "time", "name", "small", "maybe"]
TYPES = [LONG, DOUBLE, LONG, Types.STRING(), Types.INT(), LONG]


def table(env: StreamExecutionEnvironment, folder: Path, strategy: Any = None) -> DataStream:
    path = folder / "records.parquet"
    if not path.exists():
        drawn = random.Random(3)
        count = 6_000
        values = [0.0, -0.0, float("nan"), 5e-324, 1e308, *(drawn.uniform(-1, 1) for _ in range(count - 5))]
        columns = {
            "key": pa.array([drawn.randrange(-40, 40) for _ in range(count)], pa.int64()),
            "value": pa.array(values, pa.float64()),
            "time": pa.array([row // 3 for row in range(count)], pa.int64()),
            "name": pa.array([("", "ß", "🦀", "x" * 40)[row % 4] for row in range(count)]),
            "small": pa.array([row % 300 for row in range(count)], pa.int16()),
            "maybe": pa.array([None if row % 5 == 0 else row for row in range(count)], pa.int64()),
        }
        pq.write_table(pa.table(columns), path, row_group_size=1_700)
    rows = ParquetColumnarRowInputFormat(Types.ROW_NAMED(NAMES, TYPES), batch_size=700)
    source = FileSource.for_bulk_file_format(rows, str(path)).build()
    return env.from_source(source, strategy or WatermarkStrategy.no_watermarks(), "records")


def rows(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return table(env, folder).map(lambda row: (row.small, row.maybe, row.name, repr(row.value)))


def untouched(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    return table(env, folder).filter(lambda row: row.key > 10 and row.value == row.value)


def running_sums(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    """The order of additions shows in the last digits."""
    pairs = table(env, folder).map(lambda row: (row.key, row.value), PAIR)
    sums = pairs.key_by(lambda pair: pair[0], LONG).reduce(lambda a, b: (a[0], a[1] + b[1]))
    return sums.map(lambda pair: (pair[0], repr(pair[1])))


def timed(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda row, _: row.time)
    return table(env, folder, strategy).map(
        lambda row: (row.key, row.value, row.small), Types.TUPLE([LONG, DOUBLE, LONG])
    )


def windows(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    tumbling = (
        timed(env, folder).key_by(lambda r: r[0], LONG).window(TumblingEventTimeWindows.of(Time.milliseconds(90)))
    )
    return tumbling.reduce(lambda a, b: (a[0], a[1] + b[1], a[2])).map(repr, Types.STRING())


def windows_of_integers(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    tumbling = (
        timed(env, folder).key_by(lambda r: r[0], LONG).window(TumblingEventTimeWindows.of(Time.milliseconds(90)))
    )
    return tumbling.sum(2).map(repr, Types.STRING())


def windows_of_the_smallest(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    tumbling = timed(env, folder).key_by(lambda r: r[0], LONG).window(TumblingEventTimeWindows.of(Time.milliseconds(7)))
    return tumbling.min(1).map(repr, Types.STRING())


def windows_beyond_64_bits(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    """Some sums have more bits: Python adds them up."""
    large = timed(env, folder).map(lambda r: (r[0], r[2] * 2**54), Types.TUPLE([LONG, LONG]))
    tumbling = large.key_by(lambda r: r[0], LONG).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return tumbling.sum(1)


def largest(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Three columns for each batch."""
    rows, top = len(batch), pc.max(batch.column(2))
    return pa.record_batch({"f0": pa.array([rows], pa.int64()), "f1": pa.array([top.as_py()], pa.int64())})


def batches(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    two = Types.TUPLE([LONG, LONG])
    return timed(env, folder).flat_map_batches(largest, output_type=two, batch_size=500)


def batches_of_rows(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    """Whole numbers of 32 bits, texts and None go as their declared columns."""

    def kinds(batch: pa.RecordBatch) -> pa.RecordBatch:
        texts = [str(kind) for kind in batch.schema.types for _ in range(1)]
        joined = [f"{texts} {row}" for row in batch.to_pylist()]
        return pa.record_batch({"f0": pa.array(joined)})

    return table(env, folder).map_batches(kinds, output_type=Types.STRING(), batch_size=64)


def kept_batches(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    maybe = table(env, folder).map(lambda row: row.maybe, LONG)
    return maybe.filter_batches(lambda column: pc.is_valid(column), batch_format="arrow", batch_size=999)


def too_large_for_their_type(env: StreamExecutionEnvironment, folder: Path) -> DataStream:
    large = table(env, folder).map(lambda row: row.small * 2**20 * 10, Types.INT())
    return large.map_batches(lambda column: pc.add(column, 0), Types.INT(), batch_format="arrow")


PROGRAMS: list[Program] = [
    rows,
    untouched,
    running_sums,
    windows,
    windows_of_integers,
    windows_of_the_smallest,
    windows_beyond_64_bits,
    batches,
    batches_of_rows,
    kept_batches,
    too_large_for_their_type,
]


@pytest.mark.skipif(native.functions() is None, reason="needs the native module")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_columns_change_no_result(program: Program, tmp_path: Path) -> None:
    compiled = outcome(program, tmp_path, penstock_native="auto")
    assert repr(compiled) == repr(outcome(program, tmp_path, penstock_native="off"))
    assert compiled
