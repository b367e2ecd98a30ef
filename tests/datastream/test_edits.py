"""What survives which edit of a program: said by hand, predicted from the plan alone, and so when it runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import InvalidProgramError
from tests.datastream.editable_jobs import WAYS, Jobs
from tests.datastream.edits import EDITS, Edit
from tests.effort import one_of
from tests.generator.programs import ALLOWED, OTHER_TYPE, REFUSED, run
from tests.generator.world import World

SOONER, LATER = 6, 14
"""Records of a split when the program is stopped, and in the end."""


def test_there_are_enough_edits() -> None:
    assert len(EDITS) == len({edit.id for edit in EDITS}) >= 60


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.id)
def test_what_survives_is_known_before(edit: Edit) -> None:
    world = World()
    world.run(edit.before, SOONER, False)
    found = world.predicted(edit.after, allowed=edit.allowed)
    expected: dict[str, str | None] = {label: label for label in found.takes}
    expected |= dict.fromkeys(edit.empty.split())
    expected |= edit.takes
    assert found.takes == expected
    assert found.unread == frozenset(edit.unread.split())
    assert found.left == frozenset(edit.left.split())
    assert found.lost == frozenset(edit.lost.split())
    assert found.refused == edit.refused
    assert found.other_type == edit.other_type


def ways() -> list[Any]:
    """Each edit through a restart, some of them through a savepoint too, fewer from job to job."""
    every = {"restart": 1, "savepoint": one_of(test=2, quick=2), "job": one_of(test=6, quick=6)}
    assert every.keys() == set(WAYS)
    pairs = ((edit, way) for number, edit in enumerate(EDITS) for way in WAYS if number % every[way] == 0)
    return [pytest.param(edit, way, id=f"{edit.id}-{way}") for edit, way in pairs]


@pytest.mark.slow
@pytest.mark.parametrize(("edit", "way"), ways())
def test_it_survives(edit: Edit, way: str, tmp_path) -> None:
    world, jobs = World(), Jobs(str(tmp_path))
    expected = world.run(edit.before, SOONER, False)
    assert run(edit.before, SOONER, False, **jobs.settings("restart")) == expected
    program, state = edit.after, jobs.state()
    settings = jobs.settings(way) | ({ALLOWED: "true"} if edit.allowed else {})
    if edit.refused:
        with pytest.raises(InvalidProgramError) as refused:
            run(edit.after, LATER, True, **settings)
        assert refused.value.flink_class == (OTHER_TYPE if edit.other_type else REFUSED)
        jobs.refused(state)
        program, settings = edit.before, jobs.settings("restart")
    expected = world.run(program, LATER, True)
    assert run(program, LATER, True, **settings) == expected


def test_the_docs_name_edits_that_are_made() -> None:
    lines = Path(__file__).parents[2].joinpath("docs", "restoring.md").read_text().splitlines()
    begin = lines.index("| Edit | What becomes of state and positions | Test |")
    rows = [line.split("|") for line in lines[begin : lines.index("", begin)]]
    named = {name for row in rows for name in re.findall("`([a-z0-9-]+)`", row[3])}
    assert len(named) > 50
    assert named <= {edit.id for edit in EDITS}
