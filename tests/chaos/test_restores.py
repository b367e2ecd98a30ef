"""Kills while a savepoint is taken, and while a job begins from it; damaged savepoints. All kills: ``python -m
tests.chaos.restores``."""

from __future__ import annotations

import random

import pytest

from penstock.errors import PenstockError
from penstock.job.folder.lease import JobFolder
from tests.chaos.restores import NEW, Restore, copied, damaged, killed_while_restoring, killed_while_taking, outputs

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("change", [0, 1, 3, 6])
def test_who_dies_while_a_savepoint_is_taken_leaves_all_or_nothing(tmp_path, change):
    assert killed_while_taking(tmp_path / "root", change)


@pytest.mark.parametrize("change", [0, 1, 2, 3, 5, 8, 13, 21, 34, 55])
def test_who_dies_while_a_job_is_restored_leaves_all_or_nothing(tmp_path, change):
    assert killed_while_restoring(tmp_path / "root", change)


@pytest.mark.parametrize("change", [2, 9, 30])
def test_who_dies_while_a_job_begins_from_another_leaves_that_as_it_is(tmp_path, change):
    assert killed_while_restoring(tmp_path / "root", change, direct=True)


def test_damaged_savepoints_are_refused_with_a_reason(tmp_path):
    whole = Restore(tmp_path / "whole")
    whole.begin()
    whole.take()
    refused = 0
    for seed in range(40):
        restore = copied(whole, tmp_path / str(seed))
        how = damaged(restore.savepoint, random.Random(seed))
        error = refusal(restore)
        if error is None:
            restore.check_outputs()  # nobody reads what was damaged
            continue
        refused += 1
        assert len(error) > 40, how
        newest = JobFolder(str(restore.new / "job")).newest() if (restore.new / "job").exists() else None
        assert newest is None or newest.is_nothing or newest.version == 1, how
        assert not any(outputs(restore.new, NEW).values()), how
    assert refused > 30


def refusal(restore: Restore) -> str | None:
    """Why the job was refused; None if it was not."""
    try:
        restore.restore()
    except PenstockError as error:
        return str(error)
    return None
