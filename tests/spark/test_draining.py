"""A job that reads a streaming DataFrame is drained: its windows fire, and who goes on reads the files since."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Time, Types, WatermarkStrategy
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.job.savepoint.store import read_savepoint
from tests.job.savepoint.test_running import ByItself
from tests.spark.test_streams import environment, lines_of, to_files, visible, write

pytestmark = pytest.mark.spark
SECONDS = 360


def test_windows_fire_and_the_next_one_reads_on(spark: Any, tmp_path: Path) -> None:
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByItself())
    write(tmp_path / "in", "one", *map(str, range(25)))

    def program(out: str, **more: str) -> Any:
        env = environment(spark, tmp_path / out, once=False, **more)
        lines = env.from_spark(lines_of(spark, tmp_path / "in"), Types.STRING()).uid("in")
        numbers = lines.map(int, Types.LONG()).name("numbers").assign_timestamps_and_watermarks(times)
        keyed = numbers.map(lambda number: (0, 1)).key_by(lambda pair: pair[0], Types.INT())
        window = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(100)))
        to_files(window.sum(1).uid("windows"), tmp_path / f"{out}-files")
        return env.execute_async(out)

    def drained(client: Any, count: int) -> str:
        until = time.monotonic() + SECONDS
        while client.metrics()["numbers"].metrics.records_out < count:
            assert time.monotonic() < until
            time.sleep(0.05)
        return client.stop_with_savepoint(True, str(tmp_path)).result(SECONDS)

    place = drained(program("first"), 25)
    assert visible(tmp_path / "first-files") == ["(0, 25)"]
    assert read_savepoint(place).about.kind == "drain"
    write(tmp_path / "in", "two", "101", "102", "103")
    drained(program("second", execution__savepoint__path=place), 3)
    assert visible(tmp_path / "second-files") == ["(0, 3)"]
    assert spark.streams.active == []
