"""Savepoints of jobs that run on Spark: what begins with them goes on, also in this process."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.datastream import StreamExecutionEnvironment
from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.contents import content_of, verify
from penstock.job.savepoint.store import bring_in, read_savepoint
from penstock.spark.executor import SparkExecutor
from tests.job.savepoint.golden import ALL, FIRST, program
from tests.job.steps.test_one_step import sums

pytestmark = pytest.mark.spark
SECONDS = 360


def environment(folder: Path, executor: Any, **more: str) -> StreamExecutionEnvironment:
    configuration = Configuration.from_dict(
        {"execution.checkpointing.dir": str(folder), "penstock.step.records": "20", **more}
    )
    return StreamExecutionEnvironment.get_execution_environment(configuration, executor=executor).set_parallelism(2)


def started(env: StreamExecutionEnvironment, out: Path, available: int) -> Any:
    first, *others = program(env, available)
    first.union(*others).map(repr).write_as_text(str(out))
    return env.execute_async("golden")


def lines(out: Path) -> Counter[str]:
    return Counter(line for path in out.iterdir() for line in path.read_text().split("\n")[:-1])


def read(client: Any, count: int) -> None:
    """Wait until so many numbers have been read."""
    until = time.monotonic() + SECONDS
    while client.metrics()["Source: numbers"].metrics.records_out < count:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_savepoint_of_spark_goes_on_locally(spark: Any, tmp_path: Path) -> None:
    once = {"penstock.step.available-now": "true"}
    env = environment(tmp_path / "whole", "local", **once)
    started(env, tmp_path / "whole-out", FIRST).get_job_execution_result().result(SECONDS)
    before = lines(tmp_path / "whole-out")
    env = environment(tmp_path / "whole", "local", **once)
    started(env, tmp_path / "whole-out", ALL).get_job_execution_result().result(SECONDS)

    client = started(environment(tmp_path / "job", SparkExecutor(spark)), tmp_path / "out", FIRST)
    read(client, FIRST + 3)
    beside = client.trigger_savepoint(str(tmp_path)).result(SECONDS)
    place = client.stop_with_savepoint(False, str(tmp_path)).result(SECONDS)
    assert lines(tmp_path / "out") == before
    first, last = read_savepoint(beside), read_savepoint(place)
    assert (first.about.kind, last.about.kind) == ("savepoint", "stop")
    for savepoint in (first, last):
        assert verify(savepoint).problems == ()
    assert {operator.uid for operator in content_of(last).operators} == {"many", "rules", "windows"}
    with JobFolder(str(tmp_path / "new")).open("golden") as lease:
        lease.commit(bring_in(last, lease.files))
    env = environment(tmp_path / "new", "local", **once)
    started(env, tmp_path / "new-out", ALL).get_job_execution_result().result(SECONDS)
    assert before + lines(tmp_path / "new-out") == lines(tmp_path / "whole-out")


def test_a_savepoint_of_one_step_has_the_state_of_its_end(spark: Any, tmp_path: Path) -> None:
    configuration = Configuration.from_dict({"state.savepoints.dir": str(tmp_path / "savepoints")})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor=SparkExecutor(spark))
    sums(env, tmp_path / "gate").add_sink(lambda value: None)
    client = env.execute_async("sums")
    asked = client.trigger_savepoint()
    (tmp_path / "gate").touch()
    savepoint = read_savepoint(asked.result(SECONDS))
    assert verify(savepoint).problems == ()
    assert [(operator.uid, operator.entries) for operator in content_of(savepoint).operators] == [("sum", 3)]
    client.get_job_execution_result().result(SECONDS)


def test_a_job_on_spark_is_drained(spark: Any, tmp_path: Path) -> None:
    client = started(environment(tmp_path / "job", SparkExecutor(spark)), tmp_path / "out", FIRST)
    read(client, FIRST + 3)
    place = client.stop_with_savepoint(True, str(tmp_path)).result(SECONDS)
    written = lines(tmp_path / "out")
    windows = sum(
        int(line[:-1].split(", ")[1]) for line, count in written.items() for _ in range(count) if "window" in line
    )
    assert windows == sum(range(FIRST))
    assert sum(count for line, count in written.items() if line.startswith("('timer'")) == FIRST
    savepoint = read_savepoint(place)
    assert savepoint.about.kind == "drain"
    assert not any(task.finished for tasks in savepoint.manifest.tasks.values() for task in tasks)
