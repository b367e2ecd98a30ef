"""Interval joins give the same with native code and without: pairs in order, failures, and state that goes from one to
the other between two runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Configuration, Duration, Types, WatermarkStrategy
from penstock.datastream import DataStream, ProcessJoinFunction, StreamExecutionEnvironment, TimeCharacteristic
from penstock.datastream.connectors import FileSource, StreamFormat
from penstock.errors import JobExecutionError
from penstock.runtime import native
from penstock.runtime.operators.native_join import NativeJoin

pytestmark = pytest.mark.skipif(native.functions() is None, reason="there is no native module")
LONG = Types.LONG()
RECORD = Types.TUPLE([LONG, LONG, LONG])
"""Key, number, time."""
RECORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 200)), max_size=60)


class Numbers(ProcessJoinFunction):
    """Both numbers and the time between them; it fails for one pair in many."""

    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        if left[1] * right[1] == 391:
            raise ValueError(left, right)
        if left[1] != right[1] + 1:
            yield left[1], right[1], ctx.get_right_timestamp() - ctx.get_left_timestamp()


class Asking(ProcessJoinFunction):
    """One that is not compiled."""

    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield left[1], right[1], len(repr(ctx))


def keyed(lines: DataStream) -> Any:
    records = lines.map(lambda line: tuple(int(part) for part in line.split(",")), RECORD)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(20))
    timed = records.assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(lambda record, timestamp: record[2])
    )
    return timed.key_by(lambda record: record[0], LONG)


def program(env: StreamExecutionEnvironment, lines: list[DataStream], bounds: tuple[int, int], function: Any) -> Any:
    env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
    left, right = map(keyed, lines)
    pairs = left.interval_join(right).between(*bounds).process(function, RECORD).uid("joined")
    return pairs.map(lambda pair: (pair[0], pair[1] + 1, pair[2]), RECORD)


def outcome(paths: list[Path], bounds: tuple[int, int], function: Any, way: str) -> Any:
    settings = Configuration().set_string("penstock.native", way)
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(1)
    got = list[Any]()
    try:
        lines = [env.read_text_file(str(path)) for path in paths]
        with program(env, lines, bounds, function).execute_and_collect() as results:
            got.extend(results)
    except JobExecutionError as error:
        return str(error)
    return got


def written(records: list[Any], path: Path) -> Path:
    path.write_text("".join(",".join(map(str, record)) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize("function", [Numbers, Asking])
@settings(max_examples=20, deadline=None)
@given(left=RECORDS, right=RECORDS, lower=st.integers(-60, 30), width=st.integers(0, 90))
def test_random_joins_are_the_same(function, left, right, lower, width, tmp_path_factory):
    folder = Path(tmp_path_factory.mktemp("records"))
    paths = [written(left, folder / "left"), written(right, folder / "right")]
    arguments = paths, (lower, lower + width), function()
    assert outcome(*arguments, "auto") == outcome(*arguments, "off")


@pytest.mark.parametrize(("function", "pairs"), [(Numbers, 244 - 49), (Asking, 244)])
def test_a_program_joins_natively(function, pairs, tmp_path, monkeypatch):
    runs = []
    run = NativeJoin.run_input
    monkeypatch.setattr(NativeJoin, "run_input", lambda self, *others: runs.append(others[0]) or run(self, *others))
    paths = [written([(1, number, number) for number in range(50)], tmp_path / side) for side in ("left", "right")]
    assert len(outcome(paths, (-2, 2), function(), "auto")) == pairs
    assert set(runs) == {0, 1}


def watch(folder: Path, job: Path, way: str, parallelism: int = 1) -> list[Any]:
    """The pairs of what is in two folders and was not there before."""
    settings = {
        "execution.checkpointing.dir": str(job),
        "penstock.step.available-now": "true",
        "penstock.native": way,
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings), executor="local")
    env.set_parallelism(parallelism)
    lines = list[Any]()
    for side in ("left", "right"):
        files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder / side))
        watched = files.monitor_continuously(Duration.of_millis(10)).build()
        lines.append(env.from_source(watched, WatermarkStrategy.no_watermarks(), side).uid(side))
    with program(env, lines, (-30, 10), Numbers()).execute_and_collect() as results:
        return list(results)


@pytest.mark.parametrize("parallelism", [1, 2])
def test_state_goes_from_python_to_native_code_and_back(parallelism, tmp_path):
    random = Random(parallelism)
    expected, got = list[Any](), list[Any]()
    for side in ("left", "right"):
        (tmp_path / side).mkdir()
    for day, way in enumerate(["off", "auto", "auto", "off", "auto"]):
        for side in ("left", "right"):
            records = [(random.randrange(4), random.randrange(10), 40 * day + random.randrange(70)) for _ in range(50)]
            written(records, tmp_path / side / f"day{day}")
        expected.append(sorted(watch(tmp_path, tmp_path / "in python", "off", parallelism)))
        got.append(sorted(watch(tmp_path, tmp_path / "in both", way, parallelism)))
    assert got == expected
    assert min(map(len, got)) > 50
