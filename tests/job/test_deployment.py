"""What the driver knows of a job that is to run."""

from __future__ import annotations

from penstock.datastream import StreamExecutionEnvironment
from penstock.job.deployment import deploy


def test_each_job_has_a_mark_of_its_own() -> None:
    """Errors of tasks are found by it in a text that quotes records, so nobody may know it before."""
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).print()
    pipeline = env.to_pipeline()
    marks = {deploy(pipeline).mark for _ in range(10)}
    assert len(marks) == 10
    assert {len(mark) for mark in marks} == {32}
