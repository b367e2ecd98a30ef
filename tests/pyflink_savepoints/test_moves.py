"""Jobs of the real PyFlink, stopped half-way, resume in Penstock and end as PyFlink does."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from typing import Any

import pytest

from penstock.common import Configuration, Types
from tests.pyflink_savepoints.golden import lines, loaded, place
from tests.running import collected

MOVES = {f"{line['flink']} {line['name']}": line for line in lines()}
SPARK = ("1.20.1 kinds", "2.3.0 sessions", "2.3.0 keys", "2.3.0 broadcast", "2.3.0 thread_kinds")
"""The sample that runs on Spark."""


def outputs(line: dict[str, Any]) -> Counter[str]:
    """The outputs of the second half, from the savepoint on. The file source of PyFlink is not there any more."""
    settings = {"execution.savepoint.path": place(line), "execution.savepoint.ignore-unclaimed-state": "true"}
    pyflink = importlib.import_module("penstock.pyflink.datastream")
    env = pyflink.StreamExecutionEnvironment.get_execution_environment(Configuration(settings))
    env.set_parallelism(line["parallelism"]).set_max_parallelism(line["max_parallelism"])
    define, _ = loaded().PROGRAMS[line["name"]]
    records = env.from_collection(list(map(json.dumps, line["second"])), Types.STRING())
    return Counter(json.dumps(json.loads(output)) for output in collected(define(records)))


def goes_on(name: str) -> None:
    """Hold a job that begins from PyFlink's savepoint against PyFlink's own outputs."""
    line = MOVES[name]
    after = outputs(line)
    assert Counter(map(json.dumps, line["before"])) + after == Counter(map(json.dumps, line["whole"]))


@pytest.mark.parametrize("name", MOVES)
def test_a_job_of_pyflink_goes_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_EXECUTOR", "local")
    goes_on(name)


@pytest.mark.spark
@pytest.mark.parametrize("name", SPARK)
def test_a_job_of_pyflink_goes_on_on_spark(name: str, spark: Any) -> None:
    goes_on(name)
