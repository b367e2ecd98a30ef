"""On Spark, a job takes the cores of the executors that there are."""

from __future__ import annotations

from collections import Counter
from unittest import mock

import pytest

from penstock.common import Configuration
from penstock.datastream import StreamExecutionEnvironment
from penstock.job.steps import rescale
from penstock.spark import executor
from tests.job.restore.test_restarts import WHOLE, counts
from tests.job.steps.test_scaling import sizes
from tests.running import collected

pytestmark = pytest.mark.spark


def test_a_job_that_runs_takes_cores_that_come(tmp_path, spark):
    offered = executor.offered
    cores = offered(spark)
    assert cores == spark.sparkContext.defaultParallelism
    offers = iter([1, cores, cores])
    values = {"execution.checkpointing.dir": str(tmp_path), "penstock.step.records": "30", "scheduler-mode": "reactive"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(values), spark=spark)
    with (
        mock.patch("penstock.spark.executor.offered", lambda session: next(offers, offered(session))),
        mock.patch.object(rescale, "LOOK", 0),
    ):
        records = collected(counts(env, lambda stream: stream.uid("count")))
    assert Counter(records) == WHOLE
    assert sizes(tmp_path) == {"count": cores}
