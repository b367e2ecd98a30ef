"""A savepoint as what a restore finds in it."""

from __future__ import annotations

from dataclasses import replace

from penstock.compare.difference import LOST, ORPHANED, compare
from penstock.compare.savepoints import model_of_saved
from penstock.job.folder.manifest import OperatorState, StepManifest, TaskState
from penstock.job.restore.matches import match
from penstock.job.savepoint.format import AboutSavepoint, StoredSavepoint
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.buffers.row import Row
from tests.compare.planned import planned
from tests.compare.shop import PLAIN

GONE, ALSO = "f" * 32, "e" * 32
MODEL = planned(PLAIN)[0]


def orphans(tmp_path, **parts) -> tuple[set[str], set[str]]:
    """The IDs whose state is lost, as the comparison says it and as the run does."""
    manifest = StepManifest(3, "job", "", 0, **parts)
    about = AboutSavepoint("id", "job", "", 0, 3, "savepoint", 1)
    result = compare(model_of_saved(StoredSavepoint(str(tmp_path), about, manifest)), MODEL)
    texts = [problem.text for problem in result.problems if (problem.kind, problem.severity) == (ORPHANED, LOST)]
    left = match(manifest.filled(), MODEL.operators).left
    return {operator_id for operator_id in (GONE, ALSO) if any(operator_id in text for text in texts)}, set(left)


def test_a_state_that_is_empty_is_nothing_to_lose(tmp_path) -> None:
    states = {
        operator_id: OperatorState("count", None, 1, 128, ((),), empty=operator_id == ALSO)
        for operator_id in (GONE, ALSO)
    }
    assert orphans(tmp_path, operators=states) == ({GONE}, {GONE})


def test_rows_that_wait_at_the_head_of_a_loop_are_something(tmp_path) -> None:
    row = Row(0, 0, 0, 0, 0, b"data")
    tasks = {GONE: (TaskState(dumps((b"", [tuple(row)]))),), ALSO: (TaskState(dumps((b"", []))),)}
    assert orphans(tmp_path, tasks=tasks) == ({GONE}, {GONE})


def test_a_pin_to_an_operator_without_state_leaves_its_own() -> None:
    """What lies under the ID of a uid hash comes first only if there is something."""
    count = next(operator for operator in MODEL.operators if operator.name == "count")
    pinned = next(operator for operator in MODEL.operators if operator.stateful is False)
    moved = replace(count, pinned=pinned.operator_id, user_hash=pinned.operator_id)
    edited = replace(MODEL, operators=tuple(moved if operator is count else operator for operator in MODEL.operators))
    diff = next(operator for operator in compare(MODEL, edited).operators if operator.name == "count")
    assert (diff.state, diff.takes) == ("restored", "")
