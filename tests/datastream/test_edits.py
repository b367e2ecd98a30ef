"""What survives which edit of a program: said by hand, predicted from the plan alone, and so when it runs."""

from __future__ import annotations

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
    predicted = world.predicted(edit.after, allowed=edit.allowed)
    expected: dict[str, str | None] = {label: label for label in predicted.takes}
    expected |= dict.fromkeys(edit.empty.split())
    expected |= edit.takes
    assert predicted.takes == expected
    assert predicted.unread == frozenset(edit.unread.split())
    assert predicted.left == frozenset(edit.left.split())
    assert predicted.lost == frozenset(edit.lost.split())
    assert predicted.refused == edit.refused
    assert predicted.other_type == edit.other_type


def ways() -> list[Any]:
    """Each edit through a restart, some of them through a savepoint too, fewer from job to job."""
    every = {"restart": 1, "savepoint": one_of(7), "job": one_of(11)}
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


ROWS = {
    "none; another name": "nothing renamed renamed-without-uids function-with-state-changed step-size memory",
    "operators with uids: inserted": (
        "inserted-before inserted-behind inserted-with-state removed other-order-of-lines state-moved-upstream "
        "chaining-off chaining-on chain-broken chain-made sink-added sink-removed"
    ),
    "one with state removed": "removed-with-state removed-with-state-allowed",
    "one whose state is empty removed": "nothing-left-removed nothing-left-uid-changed nothing-left-max",
    "operators without uids: one inserted behind": "inserted-behind-without-uids",
    "one inserted in front": (
        "inserted-before-without-uids removed-without-uids chain-broken-without-uids sink-added-without-uids"
    ),
    "one without state gets the place": "place-of-another-without-uids",
    "a source without a uid added": "source-added-first-without-uids source-added-first-without-uids-allowed",
    "uids added, changed, removed": "uids-added uid-changed uids-removed uid-changed-allowed",
    "the same with the old ID": (
        "uids-added-with-hashes uid-changed-with-hash pinned-inserted hash-of-nobody hash-kept hash-removed"
    ),
    "uids of two operators swapped": "uids-swapped",
    "another parallelism": "parallelism-1 parallelism-8 parallelism-of-one parallelism-without-uids broadcast-rescaled",
    "max parallelism no longer set": "max-no-longer-set",
    "max parallelism changed": (
        "max-set max-changed max-of-one max-set-allowed above-max keys-of-another-type keys-of-another-type-allowed "
        "keys-of-another-type-with-another-uid"
    ),
    "a source added, or of another kind": "source-added source-added-first source-of-another-kind",
    "a source dropped": "source-dropped source-uid-changed source-uid-changed-allowed",
    "two-phase sinks": ("sinks-in-two-phases sinks-no-longer-in-two-phases sinks-in-two-phases-without-uids"),
    "loops": "loop-body-changed loop-parallelism loop-inserted loop-removed loop-inserted-without-uids",
    "inputs of `connect` or a join swapped": (
        "inputs-swapped join-inputs-swapped join-bounds-changed windows windows-rescaled windows-inserted-before "
        "window-size window-sliding time-to-live-set time-to-live-removed keys-wider"
    ),
    "a state's name": "state-renamed function-replaced timers-replaced window-replaced window-for-timers",
}
"""The beginnings of the rows of docs/restoring.md, and the edits that prove them. Of the last row,
``tests/cli/test_guard.py`` has windows of another sort and undeclared keys of another type."""


def test_the_docs_name_edits_that_are_made() -> None:
    lines = Path(__file__).parents[2].joinpath("docs", "restoring.md").read_text().splitlines()
    begin = lines.index("| Edit | What becomes of state and positions |") + 2
    rows = lines[begin : lines.index("", begin)]
    assert len(rows) == len(ROWS)
    assert [row for row, edit in zip(rows, ROWS, strict=True) if not row.startswith(f"| {edit}")] == []
    named = {name for names in ROWS.values() for name in names.split()}
    assert len(named) > 80
    assert named <= {edit.id for edit in EDITS}
