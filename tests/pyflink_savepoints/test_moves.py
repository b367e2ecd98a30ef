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


def outputs(line: dict[str, Any], records: list[Any], parallelism: int, settings: dict[str, str]) -> Counter[str]:
    pyflink = importlib.import_module("penstock.pyflink.datastream")
    env = pyflink.StreamExecutionEnvironment.get_execution_environment(Configuration(settings))
    env.set_parallelism(parallelism).set_max_parallelism(line["max_parallelism"])
    define, _ = loaded().PROGRAMS[line["name"]]
    lines_of_json = env.from_collection(list(map(json.dumps, records)), Types.STRING())
    return Counter(json.dumps(json.loads(output)) for output in collected(define(lines_of_json)))


@pytest.mark.parametrize("name", MOVES)
def test_a_job_of_pyflink_goes_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_EXECUTOR", "local")
    line = MOVES[name]
    settings = {"execution.savepoint.path": place(line), "execution.savepoint.ignore-unclaimed-state": "true"}
    after = outputs(line, line["second"], line["parallelism"], settings)
    assert Counter(map(json.dumps, line["before"])) + after == Counter(map(json.dumps, line["whole"]))
