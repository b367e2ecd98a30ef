"""Lock files: the same for the same program, and all that IDs are made of is in them."""

from __future__ import annotations

import json

import pytest

from penstock.analysis.builder import model_of_record
from penstock.analysis.facts import NAMES
from penstock.compare.difference import compare
from penstock.compare.graph import Graph
from penstock.errors import FileFormatError, InvalidProgramError
from penstock.lock.format import FORMAT, model_of_lock, program_of, written
from tests.compare.planned import planned
from tests.compare.shop import CASES, PLAIN, UIDS
from tests.compare.test_graph import models
from tests.generator.programs import SINK, SOURCE, Node, Program
from tests.golden.load import PLAN_RECORDS

TEXT = written(planned(PLAIN)[0], "/some/where/shop.py")


@pytest.mark.slow
@pytest.mark.parametrize("flink", PLAN_RECORDS)
def test_a_lock_has_all_that_ids_are_made_of(flink: str) -> None:
    count = 0
    for record, model in models(flink):
        if model.refused is None and Graph(model).order:
            text = written(model, "x.py")
            locked, graph = model_of_lock(text, "x"), Graph(model)
            assert Graph(locked).order == tuple(range(len(graph.order))), record["spec"]["name"]
            chained = [len(Graph(locked).chained(node)) for node in range(len(graph.order))]
            assert chained == [len(graph.chained(node)) for node in graph.order]
            assert written(locked, "x.py") == text
            count += 1
    assert count > 300


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_comparison_with_a_lock_says_the_same(case) -> None:
    old, new = planned(case.before)[0], planned(case.after)[0]
    locked = model_of_lock(written(old, "shop.py"), "penstock.lock")
    from_program, from_lock = compare(old, new), compare(locked, new)
    changes = [
        [
            sorted(
                (operator.name, operator.change, operator.cause and (operator.cause.kind, operator.cause.subject))
                for operator in operators
            )
            for operators in (from_program.operators, from_lock.operators)
        ]
    ]
    assert all(one == other for one, other in changes)
    problems = [sorted((p.kind, p.operator) for p in difference.problems) for difference in (from_program, from_lock)]
    assert problems[0] == problems[1]


def test_a_lock_has_no_paths_and_is_reviewed_line_by_line() -> None:
    assert "/some" not in TEXT
    assert program_of(json.loads(TEXT)) == "shop.py"
    assert written(planned(PLAIN)[0], "shop.py") == TEXT
    other = written(planned(PLAIN.change("count", parallelism=5))[0], "shop.py")
    changed = [line for line in zip(TEXT.splitlines(), other.splitlines(), strict=False) if line[0] != line[1]]
    assert any('"parallelism": 5' in line[1] for line in changed)
    uids = written(planned(UIDS)[0], "shop.py")
    assert '   "uid": "count-uid",' in uids.splitlines()


def test_names_of_anybody_are_one_line_each() -> None:
    name = 'a"\n\u202e\ud800<script>'
    model = planned(PLAIN)[0]
    hostile = type(model)(name, "1.11", model.operators, model.edges, model.vertices, model.job_edges)
    text = written(hostile, "x.py")
    assert text.encode()
    assert len(text.splitlines()) == len(TEXT.splitlines())
    assert model_of_lock(text, "x").name == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "<<<<<<< HEAD\n" + TEXT,
        TEXT[:-40],
        TEXT.replace('"operators"', '"operator"'),
        TEXT.replace('"parallelism"', '"par"', 1),
        TEXT.replace('"reads"', '"raeds": 1, "reads"').replace('"id": "', '"id": "0', 1),
        json.dumps({"penstock lock": 1, "job": "", "flink": "", "operators": [[]]}),
        "[" * 100_000,
    ],
)
def test_a_damaged_lock_is_refused(text: str) -> None:
    with pytest.raises(FileFormatError, match=r"penstock\.lock"):
        model_of_lock(text, "penstock.lock")


def test_of_an_older_lock_keys_and_what_operators_keep_are_unknown() -> None:
    program = Program((Node("a", SOURCE, uid="a"), Node("sum", "sum", ("a",), uid="sum"), Node("see", SINK, ("sum",))))
    model = planned(program)[0]
    document = json.loads(written(model, "shop.py"))
    document["penstock lock"] = 1
    for block in document["operators"]:
        for name in (*NAMES, "key"):
            block.pop(name, None)
        for state in block["states"]:
            state.pop("form", None)
    difference = compare(model_of_lock(json.dumps(document), "penstock.lock"), model)
    assert not difference.problems
    assert {problem.operator for problem in difference.unknown} == {"sum"}
    assert "'the key': its type was not recorded" in " ".join(problem.text for problem in difference.unknown)
    assert not any(operator.facts for operator in difference.operators)
    assert compare(model_of_lock(written(model, "shop.py"), "penstock.lock"), model).safe


def test_a_newer_lock_is_refused() -> None:
    text = TEXT.replace(f'"penstock lock": {FORMAT}', f'"penstock lock": {FORMAT + 1}')
    with pytest.raises(FileFormatError, match=f"has format {FORMAT + 1}"):
        model_of_lock(text, "penstock.lock")


def test_a_refused_program_is_not_locked() -> None:
    nodes = [{"id": 1, "name": "a", "kind": "source", "uid": "x"}, {"id": 2, "name": "b", "kind": "source", "uid": "x"}]
    model = model_of_record({"name": "x", "nodes": nodes, "edges": []})
    with pytest.raises(InvalidProgramError, match="cannot be locked"):
        written(model, "x.py")
