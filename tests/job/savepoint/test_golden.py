"""The format of savepoints stays readable: one that was taken once is read, and what begins with it goes on."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.contents import content_of, verify
from penstock.job.savepoint.store import bring_in, read_savepoint
from tests.job.savepoint.golden import ALL, FIRST, environment, main, program
from tests.running import collected

GOLDEN = sorted(Path(__file__).parents[2].joinpath("golden", "savepoints").iterdir())


def test_there_are_some() -> None:
    assert [path.name for path in GOLDEN] == ["format-1", "format-2"]


def outputs(folder: Path, count: int) -> Counter[Any]:
    """What a run with a checkpoint directory puts out."""
    outputs_of_both: Counter[Any] = Counter()
    env = environment(folder)
    first, *others = program(env, count)
    for stream in others:
        first = first.union(stream)
    outputs_of_both.update(map(repr, collected(first)))
    return outputs_of_both


@pytest.mark.parametrize("place", GOLDEN, ids=lambda path: path.name)
def test_it_is_read(place: Path) -> None:
    savepoint = read_savepoint(place)
    assert verify(savepoint).problems == ()
    content = content_of(savepoint)
    assert (content.about.job, content.about.parallelism) == ("golden", 2)
    assert {operator.uid: len(operator.states) for operator in content.operators} == {
        "many": 5,
        "rules": 0,
        "windows": 1,
    }
    [source] = content.sources
    assert source.positions == {"part-0": FIRST // 2, "part-1": FIRST // 2}
    assert source.splits_ended == 3


@pytest.mark.parametrize("place", GOLDEN, ids=lambda path: path.name)
def test_what_begins_with_it_goes_on(place: Path, tmp_path: Path) -> None:
    before = outputs(tmp_path / "whole", FIRST)
    rest = outputs(tmp_path / "whole", ALL)
    assert before
    assert {line.split(",")[0] for line in rest} == {"('many'", "('rules'", "('timer'", "('window'"}
    shutil.copytree(place, tmp_path / "copy")  # whoever takes it over must not touch the golden one
    with JobFolder(str(tmp_path / "new")).open("golden") as lease:
        lease.commit(bring_in(read_savepoint(tmp_path / "copy"), lease.files))
    assert outputs(tmp_path / "new", ALL) == rest


def test_the_program_still_takes_such(tmp_path: Path) -> None:
    """Of the same operators and states; what is said of a state beside its name may grow."""
    main(tmp_path)
    fresh, golden = (content_of(read_savepoint(place)) for place in (tmp_path / "savepoint", GOLDEN[0]))
    named = [[(op.operator_id, [state.name for state in op.states]) for op in it.operators] for it in (fresh, golden)]
    assert named[0] == named[1]
