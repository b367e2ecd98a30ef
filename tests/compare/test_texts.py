"""Comparisons as texts: short for what is alike, and inert whatever names are."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from penstock.analysis.model import ProgramModel, Site
from penstock.compare.difference import Difference, compare
from penstock.compare.texts import FORMATS
from penstock.display.text import annotation
from tests.compare.planned import planned
from tests.compare.shop import PLAIN
from tests.generator.programs import Node

HOSTILE = "a|b`*_[x](y)<script>\n::error::\x1b[31m\u202e" + "x" * 10_000
OLD = planned(PLAIN)[0]


def _difference(name: str = "new") -> Difference:
    """A stateful operator has moved, as one of a name was inserted; and another is renamed to that."""
    new = planned(PLAIN.insert(Node("new", "map", ("add",)), ["both"]))[0]
    return compare(OLD, _renamed(new, {"new": name, "first": name}))


def _renamed(model: ProgramModel, names: dict[str, str]) -> ProgramModel:
    site = Site("/a,b:c/x.py", 3, "map")
    operators = tuple(replace(o, name=names.get(o.name, o.name), site=site) for o in model.operators)
    return replace(model, operators=operators)


def test_nothing_to_say_is_said_in_a_line() -> None:
    alike = compare(OLD, OLD)
    assert FORMATS["text"](alike) == "operators: 12 kept, 0 moved, 0 added, 0 removed\n\nNo state is lost.\n"
    assert FORMATS["github"](alike) == "No state is lost.\n"
    assert "All 12 operators are as they were." in FORMATS["markdown"](alike)


@pytest.mark.parametrize("form", FORMATS)
def test_names_of_anybody_are_inert(form: str) -> None:
    text = FORMATS[form](_difference(HOSTILE))
    assert "\x1b" not in text
    assert "\u202e" not in text
    plain = FORMATS[form](_difference())
    assert len(text.splitlines()) == len(plain.splitlines())
    if form == "json":
        return
    commands = [line for line in text.splitlines() if line.startswith("::")]
    assert len(commands) == (len(_difference().problems) if form == "github" else 0)
    if form == "markdown":
        assert "<script>" not in text.replace("\\<", "")
        bare = text.replace("\\|", "")
        assert {line.count("|") for line in bare.splitlines() if line.startswith("|")} == {6}


def test_json_says_all() -> None:
    document = json.loads(FORMATS["json"](_difference(HOSTILE)))
    assert document["format"] == 1
    assert document["safe"] is False
    assert {operator["operator"] for operator in document["operators"]} >= {HOSTILE}
    assert sum(document["counts"].values()) == len(document["operators"])


def test_annotations_are_of_the_form_of_workflow_commands() -> None:
    command = annotation("error", "a,b:c", "100%\nof it", "/x,y/z:1.py", 7)
    assert command == "::error file=/x%2Cy/z%3A1.py,line=7,title=a%2Cb%3Ac::100%25%0Aof it"
