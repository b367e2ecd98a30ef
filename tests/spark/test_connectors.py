"""Connectors read and write on Spark what they read and write in this process."""

from __future__ import annotations

import gzip
import json
import os
import signal

import pytest

from penstock.common import Configuration, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import NumberSequenceSource, RollingPolicy
from penstock.storage.stores import storage_of
from tests.datastream.file_sinks import Remainder, lines, numbers, parts, to
from tests.datastream.test_from_source import BY_VALUE, NONE, Times, Vowels, text_files
from tests.running import collected


def environment(parallelism, spark=None):
    """On a Spark, or in this process."""
    executor = "local" if spark is None else None
    env = StreamExecutionEnvironment.get_execution_environment(spark=spark, executor=executor)
    return env.set_parallelism(parallelism)


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_sources_give_the_same(spark, tmp_path, parallelism):
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    (tmp_path / "c.gz").write_bytes(gzip.compress(b"6\n7\n"))

    def records(env):
        some = env.from_source(NumberSequenceSource(10, 2_500), BY_VALUE, "numbers").map(str)
        texts = env.from_source(text_files(tmp_path).build(), BY_VALUE, "lines")
        letters = env.from_source(Vowels(), NONE, "letters")
        return sorted(collected(some.union(texts, letters).process(Times())))

    assert records(environment(parallelism, spark)) == records(environment(parallelism))


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_files_are_the_same(spark, tmp_path, parallelism):
    def written(folder, env):
        policy = RollingPolicy.default_rolling_policy(20)
        numbers(env).sink_to(to(folder, assigner=Remainder()).with_rolling_policy(policy).build())
        env.execute()
        return parts(folder)

    on_spark = written(tmp_path / "spark", environment(parallelism, spark))
    assert on_spark.keys() == {"remainder=0", "remainder=1", "remainder=2"}
    assert on_spark == written(tmp_path / "local", environment(parallelism))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["local", "spark"]


def test_a_task_that_is_tried_again_leaves_its_files_once(spark, tmp_path):
    def once(number):
        marker = tmp_path / "failed"
        if number == 99 and not marker.exists():
            marker.touch()
            raise ValueError("once")
        return number

    env = environment(2, spark)
    numbers(env).map(once, Types.LONG()).sink_to(to(tmp_path / "out", assigner=Remainder()).build())
    env.execute()
    assert (tmp_path / "failed").exists()
    assert lines(tmp_path / "out") == sorted(f"{number}\n" for number in range(100))
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_files_on_a_store_with_a_task_that_is_killed(spark, bucket, s3_endpoint, tmp_path):
    """Workers do not have this process's variables: keys travel with the program."""
    storage_of(bucket).put(f"{bucket}/in/large", "".join(f"{number}\n" for number in range(3000)).encode())
    options = {"endpoint_url": s3_endpoint, "key": "tester", "secret": "secret"}
    configuration = Configuration.from_dict({"penstock.storage.options": json.dumps({"s3": options})})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, spark=spark).set_parallelism(2)

    def killed_once(line):
        marker = tmp_path / "killed"
        if line == "2500" and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return line

    read = env.from_source(text_files(f"{bucket}/in").build(), NONE, "in").rebalance().map(killed_once, Types.STRING())
    read.sink_to(to(f"{bucket}/files").build())
    read.write_as_text(f"{bucket}/text")
    env.execute()
    paths = [entry.path for entry in storage_of(bucket).list(bucket, deep=True)]
    assert [path.count("pending") for path in paths] == [0] * 5
    for folder in ("files", "text"):
        texts = [storage_of(bucket).get(path).decode() for path in paths if f"/{folder}/" in path]
        assert sorted(map(int, "".join(texts).split())) == list(range(3000))
