"""Two plans on one page: who is there, with which change, and what is beside it that has gone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from penstock.cli import group
from penstock.compare.difference import compare
from penstock.viewer import page, view
from penstock.viewer.changes import united
from tests.viewer.programs import orders
from tests.viewer.test_page import TEMPLATE, data_of, values


def test_a_page_of_two_plans_has_the_change_of_each_operator() -> None:
    difference = compare(orders(), orders(edited=True))
    both, changes = united(difference)
    named = {operator.name: changes[operator.node] for operator in both.operators}
    assert [change["change"] for change in changes.values()] == [
        "changed" if operator.change == "kept" and operator.differs else operator.change
        for operator in difference.operators
    ]
    assert (named["Totals"]["status"], named["Totals"]["change"]) == ("lost", "moved")
    assert (named["Large ones"]["status"], named["Large ones"]["change"]) == ("moved", "moved")
    assert "uid" in named["Totals"]["cause"]
    assert named["Totals"]["details"]["state"] == "orphaned"
    assert named["Source: Orders"]["status"] == "kept"


def test_what_has_gone_is_there_with_its_edges_and_in_no_vertex() -> None:
    new = orders(edited=True)
    both, changes = united(compare(orders(), new))
    gone = [operator for operator in both.operators if changes[operator.node]["status"] == "removed"]
    assert [operator.name for operator in gone] == ["Sink: Rejected"]
    assert (gone[0].vertex, gone[0].node in {node for vertex in both.vertices for node in vertex.operators}) == (
        None,
        False,
    )
    back = [edge for edge in both.edges if edge.target == gone[0].node]
    assert [(edge.chained, edge.index >= len(new.edges)) for edge in back] == [(False, True)]
    assert both.operators[: len(new.operators)] == new.operators
    assert len({operator.node for operator in both.operators}) == len(both.operators)


def test_state_that_cannot_be_taken_over_is_lost_on_the_page() -> None:
    new = orders()
    rescaled = [
        replace(operator, max_parallelism=7) if operator.name == "Totals" else operator for operator in new.operators
    ]
    _, changes = united(compare(orders(), replace(new, operators=tuple(rescaled))))
    [totals] = [changes[operator.node] for operator in new.operators if operator.name == "Totals"]
    assert (totals["status"], totals["details"]["state"]) == ("lost", "blocked")


def test_a_page_of_two_plans_has_a_verdict() -> None:
    edited, same = (view(orders(edited=edit), orders()) for edit in (True, False))
    verdict = data_of(edited.html())["model"]["verdict"]
    assert (verdict["safe"], verdict["text"]) == (False, "State of 1 operator would be lost or could not be restored.")
    assert [problem.partition(":")[0] for problem in verdict["problems"]] == ["Totals"]
    assert data_of(same.html())["model"]["verdict"] == {"safe": True, "text": "No state is lost.", "problems": []}


def test_a_plan_beside_itself_is_kept() -> None:
    both, changes = united(compare(orders(), orders()))
    assert both == orders()
    assert {change["status"] for change in changes.values()} == {"kept"}


def test_the_command_compares(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page, "_template", lambda: TEMPLATE)
    for name, uid in (("old.py", "one"), ("new.py", "two")):
        (tmp_path / name).write_text(
            "from penstock.datastream import StreamExecutionEnvironment\n"
            "env = StreamExecutionEnvironment.get_execution_environment()\n"
            f"env.from_collection([1]).uid('numbers').map(str).uid('{uid}').print().uid('out')\n"
            "env.execute('compared')\n"
        )
    target = tmp_path / "out.html"
    arguments = ["view", "-o", str(target), "--diff", str(tmp_path / "old.py"), str(tmp_path / "new.py")]
    assert CliRunner().invoke(group, arguments).exit_code == 0
    operators = data_of(target.read_text())["model"]["operators"]
    changes = values(operators["columns"]["change"], operators["rows"])
    assert [change["status"] for change in changes] == ["kept", "moved", "kept"]


def test_pages_without_a_comparison_say_nothing_of_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_template", lambda: TEMPLATE)
    assert "change" not in data_of(view(orders()).html())["model"]["operators"]["columns"]
