"""Each rule finds the bad program of its page, there and nothing else of it, and not the good one."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.lint import RULES, Finding, Known, LintConfiguration, lint
from penstock.lint.rules import GROUPS
from penstock.plan import operator_id
from tests.lint.programs import SETUP, planned

LOCKED = {operator_id("totals"): 128}


def findings_of(file: Path, code: str, body: str) -> list[Finding]:
    """What one rule says of a program."""
    pipeline = planned(file, body)
    again = planned(file, body) if code == "PS004" else pipeline
    known = Known(uids={node.id: node.uid for node in again.stream_graph.nodes}, max_parallelisms=LOCKED)
    everything = LintConfiguration(("ALL",)) if code.startswith("PS9") else LintConfiguration((code,))
    return [finding for finding in lint(pipeline, everything, known=known, file=str(file)) if finding.code == code]


@pytest.mark.parametrize("code", RULES)
def test_a_rule_finds_the_bad_program_and_not_the_good_one(code: str, tmp_path: Path) -> None:
    examples = RULES[code].examples()
    findings = findings_of(tmp_path / "bad.py", code, examples["Bad"])
    assert findings, "the bad program is not found"
    assert findings_of(tmp_path / "good.py", code, examples["Good"]) == []
    first = SETUP.count("\n") + 2
    for finding in findings:
        assert finding.rule == RULES[code].name()
        assert finding.message.endswith(".")
        assert finding.line is None or finding.line >= first, "found in what the examples share"


def test_what_is_not_compiled_is_named_with_its_place(tmp_path: Path) -> None:
    body = "orders.key_by(lambda order: hash(order[0])).map(lambda order: order[1])"
    (finding,) = findings_of(tmp_path / "program.py", "PS601", body)
    line = SETUP.count("\n") + 2
    begin = "The key selector lambda of 'Map' runs in Python: hash() depends on the process (line "
    assert finding.message.startswith(begin)
    assert f"(line {line} of program.py, column {body.index('hash') + 1})" in finding.message


def test_what_operators_always_call_in_python_is_not_reported(tmp_path: Path) -> None:
    process = "    def process_element(self, value, ctx):\n        yield value\n"
    body = f"class Same(ProcessFunction):\n{process}\norders.process(Same())"
    assert findings_of(tmp_path / "program.py", "PS601", body) == []


def test_there_are_rules_of_each_group_and_their_pages_say_why() -> None:
    assert len(RULES) >= 25
    assert {code[2] for code in RULES} == set(GROUPS)
    for rule in RULES.values():
        assert rule.summary().endswith("."), rule.code
        assert len(rule.why()) > 60, rule.code
        assert list(rule.examples()) == ["Bad", "Good"], rule.code
    assert len({rule.name() for rule in RULES.values()}) == len(RULES)
