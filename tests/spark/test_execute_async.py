"""Jobs of Spark in the background: their tasks end when they are cancelled, and their errors are those of execute()."""

from __future__ import annotations

import time

from penstock.common import JobStatus
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import JobCancelledError, JobExecutionError

SECONDS = 360


def test_a_job_is_cancelled_while_its_tasks_run(spark, executor, tmp_path):
    marker = str(tmp_path / "marker")

    def sleeps(value):
        with open(marker, "w"):
            pass
        time.sleep(SECONDS)
        return value

    env = StreamExecutionEnvironment.get_execution_environment(executor=executor)
    env.from_collection([1, 2]).rebalance().map(sleeps).write_as_text(str(tmp_path / "out"))
    client = env.execute_async("sleeps")
    began = time.monotonic()
    while not (tmp_path / "marker").exists():
        assert time.monotonic() < began + SECONDS / 2, client
        time.sleep(0.05)
    assert client.get_job_status().result() is JobStatus.RUNNING
    client.cancel().result()
    assert isinstance(client.get_job_execution_result().exception(SECONDS / 2), JobCancelledError)
    assert client.get_job_status().result() is JobStatus.CANCELED
    assert [path.name for path in tmp_path.iterdir()] == ["marker"]
    while spark.sparkContext.statusTracker().getActiveJobsIds():
        assert time.monotonic() < began + SECONDS / 2, "the job of Spark goes on"
        time.sleep(0.05)


def test_a_job_that_is_cancelled_before_it_has_begun(executor):
    env = StreamExecutionEnvironment.get_execution_environment(executor=executor)
    env.from_collection([1]).map(lambda value: time.sleep(SECONDS)).print()
    client = env.execute_async()
    client.cancel().result()
    assert isinstance(client.get_job_execution_result().exception(SECONDS / 2), JobCancelledError)


def test_two_jobs_at_a_time(executor, capsys):
    env = StreamExecutionEnvironment.get_execution_environment(executor=executor)
    env.from_collection([1, 2]).map(lambda value: value + 1).print()
    good = env.execute_async("good")
    env.from_collection(["x"]).map(int).name("to number").print()
    bad = env.execute_async("bad")
    result = good.get_job_execution_result().result(SECONDS)
    assert (result.job_name, result.get_job_id()) == ("good", good.get_job_id())
    error = bad.get_job_execution_result().exception(SECONDS)
    assert type(error) is JobExecutionError
    assert (error.operator, type(error.__cause__)) == ("to number", ValueError)
    assert capsys.readouterr().out == "2\n3\n"
