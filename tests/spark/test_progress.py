"""What is seen of a job of Spark while it runs: its tasks as executions, its names on Spark's pages."""

from __future__ import annotations

import time

from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import JobExecutionError
from penstock.spark.inside_pyspark import jobs_of, stages_of, tasks_of
from penstock.spark.lowering import Tellers, shortened

SECONDS = 360


def test_executions_follow_the_attempts_of_tasks(spark, executor, tmp_path):
    go, once = tmp_path / "go", tmp_path / "once"

    def waits(value):
        if value == 0 and not once.exists():
            once.touch()
            raise ValueError("the first time")
        while not go.exists():
            time.sleep(0.02)
        return value

    env = StreamExecutionEnvironment.get_execution_environment(executor=executor)
    source = env.from_collection([0, 1], Types.INT()).rebalance()
    source.map(waits, Types.INT()).name("waits").set_parallelism(2).add_sink(lambda value: None).set_parallelism(2)
    client = env.execute_async("followed")
    began = time.monotonic()
    expected = {"FINISHED": 1, "RUNNING": 2}
    while client.execution_graph().states() != expected or len(attempts(client)) < 4:
        assert time.monotonic() < began + SECONDS / 2, client.execution_graph()
        time.sleep(0.1)
    assert sorted(attempts(client)) == [("FAILED", 0), ("FINISHED", 0), ("RUNNING", 0), ("RUNNING", 1)]
    tag = f"penstock-{client.get_job_id()}"
    (job,) = jobs_of(spark.sparkContext, tag)
    assert [tasks_of(spark.sparkContext, stage)[0] for stage in stages_of(spark.sparkContext, job)] == [
        "COMPLETE",
        "ACTIVE",
    ]
    described = spark.sparkContext._jsc.sc().statusStore().job(job).description().get()
    assert described == "followed: Source: Collection Source ⇒ waits -> Sink: Unnamed"
    while client.metrics()["Source: Collection Source"].metrics.records_out != 2:  # as soon as the task has ended
        assert time.monotonic() < began + SECONDS, client.metrics()
        time.sleep(0.1)
    while client.metrics().waits_for != (
        "tasks, which Spark counts as they end: stage 2/2, 0/2 tasks: waits -> Sink: Unnamed"
    ):
        assert time.monotonic() < began + SECONDS, client.metrics().waits_for
        time.sleep(0.1)
    go.touch()
    client.get_job_execution_result().result(SECONDS)
    assert client.metrics().waits_for == ""
    assert client.execution_graph().states() == {"FINISHED": 3}
    assert client.metrics()["waits"].metrics.records_in == 2
    assert client.metrics()["Source: Collection Source"].metrics.records_out == 2
    assert sum(task.busy for vertex in client.metrics().vertices for task in vertex.tasks) > 0


def attempts(client):
    vertices = client.execution_graph().vertices
    executions = [execution for v in vertices for execution in v.executions]
    executions += [execution for v in vertices for prior in v.prior for execution in prior]
    return [(execution.state, execution.attempt) for execution in executions]


def test_the_task_that_failed_the_job(executor):
    env = StreamExecutionEnvironment.get_execution_environment(executor=executor)
    env.from_collection(["x"]).rebalance().map(int).name("to number").set_parallelism(1).add_sink(lambda value: None)
    client = env.execute_async("fails")
    assert isinstance(client.get_job_execution_result().exception(SECONDS), JobExecutionError)
    states = {vertex.name: vertex.executions[0].state for vertex in client.execution_graph().vertices}
    assert states["Source: Collection Source"] in ("FINISHED", "CANCELED")  # it may be over before anybody looks
    assert [state for name, state in states.items() if name.startswith("to number")] == ["FAILED"]


def test_what_the_session_says_of_its_jobs_stays_as_it_was(spark, executor):
    spark.sparkContext.setJobDescription("mine")
    try:
        env = StreamExecutionEnvironment.get_execution_environment(executor=executor)
        env.from_collection([1]).add_sink(lambda value: None)
        env.execute()
        assert spark.sparkContext.getLocalProperty("spark.job.description") == "mine"
    finally:
        spark.sparkContext.setLocalProperty("spark.job.description", None)


def test_what_is_told_is_not_kept_and_what_nobody_wants_is():
    counted = ("nobody's", 0, 0, ())
    assert Tellers().addInPlace([], [counted]) == [counted]
    assert Tellers().zero([counted]) == []


def test_names_fit_on_a_page():
    assert shortened(["a -> b", "c"]) == "a -> b | c"
    assert shortened(["x" * 300]) == "x" * 99 + "…"
