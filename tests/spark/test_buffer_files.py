"""On one machine large buffers are in files, and Spark carries rows without them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark import SparkFiles

from penstock.common import Configuration, RestartStrategies, Types
from penstock.datastream import MapFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from penstock.runtime.buffers import buffer_files
from penstock.spark import steps
from penstock.spark.inside_pyspark import stages_of

RECORDS = 20_000
TEXT = Types.TUPLE([Types.LONG(), Types.STRING()])


class FailOnce(MapFunction):
    """Fails at the 8,000th record of its first attempt, after buffers have left."""

    def open(self, runtime_context) -> None:
        self.left = 8_000 if runtime_context.get_attempt_number() == 0 else -1

    def map(self, value):
        self.left -= 1
        if self.left == 0:
            raise ValueError("once")
        return value


def environment(executor, settings=None):
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings or {}), executor=executor)
    return env.set_parallelism(2)


def counted(env, function=None):
    """Counts of 64 keys, with a text in each record that makes buffers large."""
    records = env.generate_sequence(1, RECORDS).map(lambda number: (number % 64, f"{number:0300d}"), TEXT)
    if function is not None:
        records = records.map(function, TEXT)
    longest = records.key_by(lambda record: record[0]).reduce(lambda a, b: max(a, b))
    return longest.map(lambda record: f"{record[0]} {int(record[1])}", Types.STRING())


def expected():
    return sorted(f"{number % 64} {number}" for number in range(1, RECORDS + 1))


@pytest.fixture
def folders(monkeypatch):
    """The folders of jobs, and how many bytes were in their files when they were about to go."""
    sizes: dict[str, int] = {}

    def look(folder):
        with os.scandir(folder) as files:
            sizes[folder] = sizes.get(folder, 0) + sum(file.stat().st_size for file in files)

    forget, remove = buffer_files.forget_all, steps.shutil.rmtree
    monkeypatch.setattr(steps, "forget_all", lambda folder: (look(folder), forget(folder)))
    monkeypatch.setattr(steps.shutil, "rmtree", lambda folder, **how: (look(folder), remove(folder, **how)))
    return sizes


def lines_of(folder):
    return sorted(line for path in folder.rglob("*") if path.is_file() for line in path.read_text().splitlines())


def left_over():
    """The folders of buffers that are there; what was shipped with other jobs of this Spark stays."""
    folders = Path(SparkFiles.getRootDirectory()).glob("penstock-*")
    return [path for path in folders if path.is_dir() and not path.name.endswith(".tar.d")]


def shuffled(spark):
    """Bytes that the stages of Spark's newest job have sent."""
    context = spark.sparkContext
    store, newest = context._jsc.sc().statusStore(), max(context.statusTracker().getJobIdsForGroup(None))
    return sum(store.lastStageAttempt(stage).shuffleWriteBytes() for stage in stages_of(context, newest))


def test_spark_carries_places_only(spark, executor, folders):
    with counted(environment(executor)).execute_and_collect() as results:
        assert sorted(results) == expected()
    (size,) = folders.values()
    assert size > RECORDS * 250
    assert shuffled(spark) < RECORDS * 10
    assert not left_over()


def test_in_steps_files_go_with_each_step(executor, folders, tmp_path):
    settings = {"execution.checkpointing.dir": str(tmp_path / "job"), "penstock.step.records": "5000"}
    env = environment(executor, settings)
    counted(env).write_as_text(str(tmp_path / "out"))
    env.execute("steps")
    assert lines_of(tmp_path / "out") == expected()
    (size,) = folders.values()
    assert size > RECORDS * 250
    assert not left_over()


@pytest.mark.parametrize("in_steps", [False, True])
def test_a_job_that_fails_once(executor, folders, tmp_path, in_steps):
    settings = {"execution.checkpointing.dir": str(tmp_path / "job")} if in_steps else {}
    env = environment(executor, settings)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(5, 0))
    counted(env, FailOnce()).write_as_text(str(tmp_path / "out"))
    env.execute("fails once")
    assert lines_of(tmp_path / "out") == expected()
    assert not left_over()


def test_sorted_rows_are_whole(executor, folders):
    """Spark sorts them by their data."""
    env = environment(executor)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    with counted(env).execute_and_collect() as results:
        assert sorted(results) == sorted(f"{key} {max(range(key or 64, RECORDS + 1, 64))}" for key in range(64))
    assert set(folders.values()) == {0}
    assert not left_over()
