"""What the driver knows of a job that is to run."""

from __future__ import annotations

from penstock.common.serialization import Encoder
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSink
from penstock.job.deployment import deploy


def test_each_job_has_a_mark_of_its_own() -> None:
    """Errors of tasks are found by it in a text that quotes records, so nobody may know it before."""
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).print()
    pipeline = env.to_pipeline()
    marks = {deploy(pipeline).mark for _ in range(10)}
    assert len(marks) == 10
    assert {len(mark) for mark in marks} == {32}


def test_a_sink_on_a_store_says_its_url() -> None:
    """Not as a path, which has no two slashes and would count as one of each machine's own."""
    environment = StreamExecutionEnvironment.get_execution_environment(executor="local")
    sink = FileSink.for_row_format("memory://bucket/out", Encoder.simple_string_encoder()).build()
    environment.from_collection([1]).sink_to(sink)
    environment.from_collection([1]).write_as_text("memory://bucket/text")
    locations = {location for _, location in deploy(environment.to_pipeline()).locations}
    assert locations == {"memory://bucket/out", "memory://bucket/text"}
