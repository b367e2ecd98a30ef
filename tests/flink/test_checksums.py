"""Penstock's checksums equal those that the real Flink printed: both definitions agree, and so do the graphs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from benches import checksums

from penstock.plan import PROFILES, StreamGraph
from tests.flink.stored_checksums import NAMES, PHASES, stored
from tests.golden.load import plan_record

CASES = [(version, name) for version, names in NAMES.items() if version in PROFILES for name in names]


def graph_of(name: str) -> StreamGraph:
    return StreamGraph.from_json(json.dumps(plan_record(name)["spec"]))


def job_of(version: str, name: str) -> Any:
    profile = {} if version == "1.11" else {"flink": version}
    return graph_of(name).job_graph(**profile)


def test_the_file_has_every_case() -> None:
    assert {version: tuple(names) for version, names in stored().items()} == NAMES
    assert all(set(phases) == set(PHASES) for names in stored().values() for phases in names.values())


@pytest.mark.parametrize(("version", "name"), CASES)
def test_checksums_are_those_of_flink(version: str, name: str) -> None:
    expected = stored()[version][name]
    job = job_of(version, name)
    assert checksums.hashes(graph_of(name)) == expected["hash"]
    assert checksums.job_graph(job) == expected["job_graph"]
    assert checksums.execution_graph(job.execution_graph()) == expected["execution_graph"]


@pytest.mark.parametrize("phase", ["regions", "restart", "release"])
@pytest.mark.parametrize(("version", "name"), CASES)
def test_regions_are_those_of_flink(version: str, name: str, phase: str) -> None:
    execution = job_of(version, name).execution_graph()
    assert getattr(checksums, phase)(execution) == stored()[version][name][phase]


def test_another_graph_has_other_checksums() -> None:
    spec = plan_record("hw_wordcount")["spec"]
    spec = {**spec, "nodes": [{**node, "name": node["name"] + "!"} for node in spec["nodes"]]}
    renamed, expected = StreamGraph.from_json(json.dumps(spec)), stored()["1.11"]["hw_wordcount"]
    assert checksums.hashes(renamed) == expected["hash"]  # a name is not part of an id
    assert checksums.job_graph(renamed.job_graph())["sha256"] != expected["job_graph"]["sha256"]


def test_edges_are_left_out_above_the_limit() -> None:
    execution = job_of("1.11", "hw_wordcount").execution_graph()
    assert checksums.execution_graph(execution, max_edges=16)["sha256_inputs"] is None
    assert checksums.execution_graph(execution, max_edges=17)["sha256_inputs"]
