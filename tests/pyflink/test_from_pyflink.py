"""Graphs of the real PyFlink: read through its gateway, they get the operator IDs that Flink gives them.

``plans.jsonl.gz`` has what apache-flink 2.3.0 made of the programs beside it, up to their first ``execute()``. With
PENSTOCK_PYFLINK, paths of interpreters that have apache-flink, some programs are planned there anew (``make pyflink``).
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.cli.program import Planning
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import ConfigurationError, InvalidProgramError
from penstock.plan import StreamGraph, from_pyflink
from penstock.plan.pyflink_graph import in_all_orders
from tests.pyflink.plans_on_pyflink import MARK
from tests.pyflink.test_programs import FOLDER, led_away

INTERPRETERS = os.environ.get("PENSTOCK_PYFLINK", "").split()
LIVE = ["operator_settings", "side_outputs_everywhere", "csv_files", "windows"]
"""Uids and groups, edges of many kinds, sinks of two operators, windows."""


def recorded() -> list[dict[str, Any]]:
    with gzip.open(Path(__file__).with_name("plans.jsonl.gz"), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def ids(graph: StreamGraph) -> dict[str, str]:
    return {str(node): operator_id for node, operator_id in graph.operator_ids().items()}


def test_every_recorded_graph_gets_flinks_ids() -> None:
    plans = recorded()
    assert len(plans) == 98
    assert sum(len(plan["hashes"]) for plan in plans) == 1430
    for plan in plans:
        assert ids(StreamGraph.from_dict(plan["spec"])) == plan["hashes"], plan["program"]


@pytest.mark.slow
def test_how_many_ids_the_mirror_shares_with_the_real_one(capsys: pytest.CaptureFixture[str]) -> None:
    """What docs/pyflink.md says. PyFlink adds operators of its own and merges others, which moves positions."""
    equal = shared = 0
    for plan in recorded():
        with led_away():
            mine = Planning(pyflink=True).plan(str(FOLDER / f"{plan['program']}.py")).stream_graph
        ours, real = Counter(ids(mine).values()), Counter(plan["hashes"].values())
        equal += ours == real
        shared += sum((ours & real).values())
    assert (equal, shared) == (14, 510)


@pytest.mark.skipif(not INTERPRETERS, reason="PENSTOCK_PYFLINK names no interpreter with apache-flink: make pyflink")
@pytest.mark.parametrize("python", INTERPRETERS)
def test_the_real_one_is_read(python: str, tmp_path: Path) -> None:
    sources = str(Path(penstock.__file__).parents[1])
    environment = {
        **os.environ,
        "PYTHONPATH": sources,
        "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = [python, "-u", str(Path(__file__).with_name("plans_on_pyflink.py"))]
    command += [str(FOLDER / f"{name}.py") for name in LIVE]
    run = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=True
    )
    plans = [json.loads(line.partition(MARK)[2]) for line in run.stdout.splitlines() if MARK in line]
    assert [plan["program"] for plan in plans] == LIVE, run.stderr
    known = {plan["program"]: sorted(plan["hashes"].values()) for plan in recorded()}
    for plan in plans:
        assert ids(StreamGraph.from_dict(plan["spec"])) == plan["hashes"], plan
        assert sorted(plan["hashes"].values()) == known[plan["program"]]


def test_without_apache_flink_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    monkeypatch.setitem(__import__("sys").modules, "pyflink.java_gateway", None)
    with pytest.raises(ConfigurationError, match="pip install --no-deps penstock"):
        from_pyflink(env)


def test_the_mirrors_environment_is_no_real_one() -> None:
    from penstock.pyflink.finder import install

    with led_away():
        install()
        from pyflink.datastream import StreamExecutionEnvironment as Mirror

        with pytest.raises(InvalidProgramError, match="not an environment of the real PyFlink"):
            from_pyflink(Mirror.get_execution_environment())


def test_one_order_for_all_outputs_and_inputs() -> None:
    edges = ["a→x", "a→y", "b→x", "b→y"]
    orders = [["a→y", "a→x"], ["b→x", "b→y"], ["b→x", "a→x"], ["b→y", "a→y"]]
    in_order = in_all_orders(edges, orders)
    assert sorted(in_order) == edges
    assert all([edge for edge in in_order if edge in order] == order for order in orders)
