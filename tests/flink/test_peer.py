"""The real Flink, by ``benches/flink``, makes the golden records. Needs Java, Maven: ``make bench-flink``."""

from __future__ import annotations

import json
import os

import pytest
from benches import checksums, flink_peer

from penstock.plan import PROFILES, plan_record, shapes
from tests.flink.stored_checksums import NAMES, printed, stored
from tests.golden.load import differences, plan_records
from tests.properties.graphs import seeded_spec

wanted = pytest.mark.skipif(not os.environ.get("PENSTOCK_FLINK"), reason="downloads Flink: set PENSTOCK_FLINK=1")
versions = pytest.mark.parametrize("version", flink_peer.VERSIONS)


@pytest.fixture(autouse=True)
def _available(request: pytest.FixtureRequest) -> None:
    version = request.node.callspec.params.get("version") if hasattr(request.node, "callspec") else None
    if version and (reason := flink_peer.missing(version)):
        pytest.skip(reason)


@wanted
@versions
def test_golden_records_are_reproduced(version: str) -> None:
    records = plan_records(version)
    problems = []
    results = flink_peer.results(version, (json.dumps(record["spec"]) for record in records))
    for record, result in zip(records, results, strict=True):
        problems += differences(result, record["result"])[1]
        problems += [] if result == record["result"] else [f"{record['spec']['name']}: a message differs"]
    assert not problems, problems[:10]


@wanted
@versions
def test_new_graphs_are_planned_alike(version: str) -> None:
    if version not in PROFILES:
        pytest.skip(f"no profile {version}")
    specs = [seeded_spec(seed, seed % 60) for seed in range(900_000, 900_200)]
    specs = [spec for spec in specs if version == "1.11" or "iterations" not in spec]
    problems = []
    for spec, result in zip(specs, flink_peer.results(version, map(json.dumps, specs)), strict=True):
        sentences = differences(json.loads(plan_record(json.dumps(spec), version)), result)[1]
        problems += [f"{spec['name']}: {sentence}" for sentence in sentences]
    assert not problems, problems[:10]


@wanted
@pytest.mark.parametrize(("version", "name"), [(version, name) for version, names in NAMES.items() for name in names])
def test_stored_checksums_are_what_flink_prints(version: str, name: str) -> None:
    assert printed(version, name) == stored()[version][name]


@wanted
@versions
def test_what_dies_is_reported(version: str) -> None:
    graph = shapes.forward_chain(30_000)
    hashed, planned = flink_peer.time(version, graph, ("hash", "job_graph"), rounds=1, warm_seconds=0, stack="1m")
    assert hashed.checksum == checksums.hashes(graph)
    assert "StackOverflowError" in (planned.died or "")
    late = flink_peer.time(version, graph, ("hash",), timeout=0.05)
    assert [timing.died for timing in late] == ["not finished after 0.05 s"]


def test_an_unknown_version_is_said_to_be_missing() -> None:
    assert "1.12" in (flink_peer.missing("1.12") or "")
