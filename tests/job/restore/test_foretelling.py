"""What becomes of a savepoint's state in a program, said before it runs."""

from __future__ import annotations

import pytest

from penstock.cli.program import PlanCaptured, PlanOnlyExecutor
from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.environment import executors
from penstock.errors import InvalidProgramError
from penstock.job.folder.manifest import OperatorState, StepManifest
from penstock.job.restore.notices import predict
from penstock.plan import operator_id

GONE = "f" * 32


def pipeline(uid: str | None = None, pinned: str | None = None):
    """A program with a sum."""
    planner, env = PlanOnlyExecutor(), StreamExecutionEnvironment.get_execution_environment()
    summed = env.from_collection([1], type_info=Types.LONG()).uid("src").key_by(lambda n: n, Types.LONG()).sum()
    summed.name("sum").print().uid("out")
    if uid is not None:
        summed.uid(uid)
    if pinned is not None:
        summed.set_uid_hash(pinned)
    with executors.override(planner), pytest.raises(PlanCaptured):
        env.execute("sums")
    return planner.pipeline


def manifest(**names: str) -> StepManifest:
    states = {state_id: OperatorState(name, None, 1, 128, ((),)) for state_id, name in names.items()}
    return StepManifest(3, "job", "", 0, operators=states)


def id_of_the_sum(program) -> str:
    nodes = {node.id: node.name for node in program.stream_graph.nodes}
    links = (link for vertex in program.job_graph().vertices for link in vertex.chain)
    return next(link.operator_id for link in links if nodes[link.node] == "sum")


def codes(program, saved, allow: bool = False):
    refused, findings = predict(program, saved, allow=allow)
    return refused, {(finding.code, finding.operator_id) for finding in findings if finding.code != "starts-empty"}


def test_state_that_is_taken_says_nothing():
    assert codes(pipeline("sum"), manifest(**{operator_id("sum"): "sum"})) == (None, set())


def test_state_of_another_operator_is_inherited_by_position():
    program = pipeline()
    at = id_of_the_sum(program)
    assert codes(program, manifest(**{at: "count"})) == (None, {("inherited", at)})
    assert codes(program, manifest(**{at: "sum"})) == (None, set())


def test_what_nobody_takes_is_refused_or_left_behind():
    program, saved = pipeline("sum"), manifest(**{GONE: "count"})
    refused, findings = codes(program, saved)
    assert isinstance(refused, InvalidProgramError)
    assert findings == {("left-behind", GONE)}
    assert codes(program, saved, allow=True) == (None, {("left-behind", GONE)})


def test_what_starts_empty():
    _, findings = predict(pipeline("sum", GONE), manifest(**{GONE: "sum"}))
    assert operator_id("sum") not in {finding.operator_id for finding in findings}
    _, findings = predict(pipeline("sum"), manifest())
    assert operator_id("sum") in {finding.operator_id for finding in findings if finding.code == "starts-empty"}
