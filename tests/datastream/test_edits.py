"""What survives which edit of a program: said by hand, predicted from the plan alone, and so when it runs."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import InvalidProgramError
from penstock.job.folder.lease import JobFolder
from tests.datastream.editable import REFUSED, World, run
from tests.datastream.edits import EDITS, Edit

SOONER, LATER = 6, 14
"""Records of a split when the program is stopped, and in the end."""

WAITING = {
    "removed-with-state-allowed",
    "two-removed-allowed",
    "uids-added-allowed",
    "uids-added-with-hashes",
    "uid-changed-allowed",
    "uid-changed-with-hash",
    "uid-removed-with-hash",
    "source-uid-changed",
    "pinned-inserted",
    "max-no-longer-set",
    "max-no-longer-set-parallelism",
    "at-max",
    "source-added-first-without-uids-allowed",
    "source-dropped",
}
"""What waits for restores that match by Flink's rules."""


def edits() -> list[Any]:
    waiting = pytest.mark.xfail(strict=True)
    return [pytest.param(edit, id=edit.id, marks=waiting if edit.id in WAITING else ()) for edit in EDITS]


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
    assert found.refused == edit.refused


@pytest.mark.parametrize("edit", edits())
def test_it_survives_a_restart(edit: Edit, tmp_path) -> None:
    world, folder = World(), {"penstock__job__folder": str(tmp_path / "job")}
    expected = world.run(edit.before, SOONER, False)
    assert run(edit.before, SOONER, False, **folder) == expected
    program = edit.after
    allowed = {"execution__savepoint__ignore_unclaimed_state": "true"} if edit.allowed else {}
    if edit.refused:
        newest = JobFolder(str(tmp_path / "job")).newest()
        with pytest.raises(InvalidProgramError) as refused:
            run(edit.after, LATER, True, **folder, **allowed)
        assert refused.value.flink_class == REFUSED
        left = JobFolder(str(tmp_path / "job")).newest()
        assert (newest.operators, newest.sources) == (left.operators, left.sources)
        program = edit.before
    expected = world.run(program, LATER, True)
    assert run(program, LATER, True, **folder, **allowed) == expected
