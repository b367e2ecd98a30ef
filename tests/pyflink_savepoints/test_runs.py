"""The programs of PyFlink's golden savepoints give on Penstock what they have given on PyFlink."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from typing import Any

import pytest

from penstock.common import Types
from tests.pyflink_savepoints.golden import lines, loaded
from tests.running import collected


def counted(outputs: list[Any]) -> Counter[str]:
    return Counter(map(json.dumps, outputs))


@pytest.mark.parametrize("line", lines(), ids=lambda line: f"{line['flink']} {line['name']}")
def test_the_whole_program(line: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_EXECUTOR", "local")
    pyflink = importlib.import_module("penstock.pyflink.datastream")
    env = pyflink.StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(line["parallelism"]).set_max_parallelism(line["max_parallelism"])
    define, _ = loaded().PROGRAMS[line["name"]]
    records = env.from_collection(list(map(json.dumps, line["first"] + line["second"])), Types.STRING())
    outputs = list(map(json.loads, collected(define(records))))
    assert counted(outputs) == counted(line["whole"])
    assert counted(line["before"]) < counted(line["whole"])
    assert len(outputs) > len(line["before"])
