"""A savepoint of a job on Spark is gone on with there and here, at another parallelism, by a changed program."""

from __future__ import annotations

from collections import Counter

import pytest

from penstock.common import Configuration
from penstock.datastream import StreamExecutionEnvironment
from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.store import write_savepoint
from tests.job.restore.jobs import PAIR, some
from tests.job.restore.test_restarts import WHOLE, counts
from tests.running import collected

pytestmark = pytest.mark.spark


def program(spark, folder, parallelism, executor="spark", place=None, **kwargs):
    values = {"execution.checkpointing.dir": str(folder), "penstock.step.records": "10"}
    if place is not None:
        values["execution.savepoint.path"] = str(place)
    settings = Configuration.from_dict(values)
    where = {"spark": spark} if executor == "spark" else {"executor": executor}
    env = StreamExecutionEnvironment.get_execution_environment(settings, **where).set_parallelism(parallelism)
    return counts(env, lambda stream: stream.uid("count"), **kwargs)


@pytest.mark.parametrize(
    "executors", [("spark", "spark", "spark"), ("spark", "local", "spark"), ("local", "spark", "local")]
)
def test_savepoints_are_for_both_executors(tmp_path, spark, executors):
    first = some(program(spark, tmp_path / "a", 2, executors[0]), 3)
    folder = JobFolder(str(tmp_path / "a"))
    write_savepoint(folder.files, folder.newest(), tmp_path / "savepoint", "stop")
    changed = {"before": lambda stream: stream.map(lambda record: record, PAIR)}
    second = some(program(spark, tmp_path / "b", 3, executors[1], tmp_path / "savepoint", **changed), 3)
    third = some(program(spark, tmp_path / "b", 2, executors[2]), 1)
    rest = collected(program(spark, tmp_path / "b", 4, executors[2], **changed))
    assert sum(map(Counter, (first, second, third, rest)), Counter()) == WHOLE
