"""Streaming DataFrames over Spark Connect: the tests of those of this process, and what differs."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import PySparkException

from penstock.spark.connect_queries import remove_tree, seen_by_spark
from penstock.spark.inside_pyspark import query_failure, version
from penstock.spark.stream_queries import Handed
from penstock.spark.streams import StreamPlan
from penstock.storage.storage import join
from penstock.storage.stores import storage_of
from tests.spark.connect_streams import ENDLESS, PROGRAMS
from tests.spark.test_apart import shared


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    if version() < (4, 3) or sys.platform != "linux":
        pytest.skip("programs run over Spark Connect from Spark 4.3 on")
    return shared("connect_streams", tmp_path_factory)


@pytest.mark.parametrize("name", [*PROGRAMS, *ENDLESS])
def test_streams_over_connect(results, name):
    assert results[name] == "passed", results[name]


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/a folder/job", "file:///a folder/job"),
        ("/Volumes/main/default/job", "/Volumes/main/default/job"),
        ("s3://bucket/job", "s3a://bucket/job"),
        ("hdfs://host:9000/job", "hdfs://host:9000/job"),
        ("abfs://container@account.dfs.core.windows.net/job", "abfs://container@account.dfs.core.windows.net/job"),
    ],
)
def test_spark_reads_the_files_of_penstock(path, seen):
    assert seen_by_spark(path) == seen


@pytest.mark.parametrize("place", ["local", "memory://queries"])
def test_a_folder_is_removed_with_all_that_is_in_it(tmp_path, place):
    folder = join(str(tmp_path) if place == "local" else place, "queries")
    storage = storage_of(folder)
    for name in ("one/checkpoint/offsets/0", "one/taken/beat-0", "two/batches/0/.part.crc"):
        storage.put(join(folder, name), b"x")
    remove_tree(storage, folder)
    assert storage.list(folder, deep=True) == []
    remove_tree(storage, folder)
    assert not (tmp_path / "queries").exists()


def test_of_a_failure_on_the_server_the_error_is_shown():
    text = """[PYTHON_EXCEPTION] Found error inside foreachBatch Python process: Traceback (most recent call last):
  File "worker.py", line 72, in process
    func(batch_df, batch_id)
    ^^^^
pyspark.errors.exceptions.connect.SparkRuntimeException: [USER_RAISED_EXCEPTION] boom. SQLSTATE: P0001
  a plan

JVM stacktrace:
org.apache.spark.SparkRuntimeException
"""
    expected = "SparkRuntimeException: [USER_RAISED_EXCEPTION] boom. SQLSTATE: P0001"
    assert query_failure(PySparkException(text)) == expected
    assert query_failure(PySparkException("[STREAM_FAILED] of another place")) is None


@pytest.mark.parametrize(
    ("partitions", "idle"), [((), [True] * 3), ((0,), [False, True, True]), ((1, 3, 4), [False, False, True])]
)
def test_a_subtask_without_a_partition_of_the_micro_batch_is_idle(partitions, idle):
    query: Any = SimpleNamespace(handed=lambda: Handed("frame", partitions, {}, []))
    vertex: Any = SimpleNamespace(parallelism=3, operators=[SimpleNamespace(name="stream")])
    plan = StreamPlan(vertex, {}, (), lambda name, at, seen: query, once=False)
    planned = plan.plan(10, None)
    assert [reading.idle for reading in planned.readings] == idle
    assert planned.busy
    assert plan.frame == "frame"
