"""``python -m tests.chaos`` sees what is wrong, says what to run again, and has the kills that it is asked for."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from tests.chaos.__main__ import _shares, _table
from tests.chaos.changes import SETTINGS, in_a_process
from tests.chaos.job import run
from tests.chaos.lives import check, waste
from tests.chaos.parts import PARTS, Defect, Kills, Outcome, Places

pytestmark = pytest.mark.slow


@pytest.fixture
def places(tmp_path):
    with ExitStack() as stack:
        yield Places(tmp_path, stack, 4)


@pytest.mark.parametrize("kills", [0, 7, 100, 1000])
@pytest.mark.parametrize("parts", [list(PARTS), ["local", "spark"], ["speculation"]], ids=str)
def test_the_parts_have_as_many_kills_as_asked_for(parts, kills):
    shares = _shares(parts, kills)
    assert list(shares) == parts
    assert sum(shares.values()) == (0 if parts == ["speculation"] else kills)


def test_a_hundred_kills_are_shared_as_the_parts_say():
    assert _shares(list(PARTS), 100) == {name: part.share for name, part in PARTS.items()}
    assert PARTS["cluster"].share >= 20
    assert sum(part.share for name, part in PARTS.items() if name.startswith("store")) >= 20


@pytest.fixture
def done(tmp_path):
    root = tmp_path / "done"
    root.mkdir()
    assert in_a_process(lambda: run(str(root), SETTINGS))
    check(root, SETTINGS)
    return root


@pytest.mark.parametrize("change", ["lost", "twice", "other"])
@pytest.mark.parametrize("output", ["sums", "ledger", "sections"])
def test_a_line_that_is_wrong_is_a_defect(done, output, change):
    file = next(path for path in sorted(Path(done, output).rglob("*")) if path.is_file() and path.stat().st_size)
    first, *others = file.read_text().splitlines(keepends=True)
    lines = {"lost": others, "twice": [first, first, *others], "other": [f"x{first}", *others]}
    file.write_text("".join(lines[change]))
    with pytest.raises(AssertionError, match="is not what it should be"):
        check(done, SETTINGS)


@pytest.mark.parametrize(
    "file",
    ["job/state/0f-late", "job/manifests/manifest-3.json", "job/lease/owner-0.json", "job/x", "sums/.steps-1/part-0"],
)
def test_a_file_that_nobody_needs_is_a_defect(done, file):
    path = done / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    assert waste(done, SETTINGS) == [str(path)]
    with pytest.raises(AssertionError):
        check(done, SETTINGS)


def test_a_defect_says_what_to_run_again_and_keeps_the_files(places):
    part = Kills("nowhere", 1, {"penstock.executor": "nowhere"})
    with pytest.raises(Defect, match=r"--parts local --seed 4 --kills 2") as caught:
        list(part.run(places, "local", 2))
    assert "The job has ended by 1" in str(caught.value)
    assert "'nowhere'" in str(caught.value)
    kept = Path(str(caught.value).partition("See ")[2].partition(". Again")[0])
    assert (kept / "local-4.log").exists()
    shutil.rmtree(kept)


def test_jobs_run_without_native_code_if_asked_for(places):
    places.native = "off"
    with places.kept("local", "--parts local") as root:
        assert PARTS["local"].job(places, root, Random(0)).settings["penstock.native"] == "off"
    options = "ARGS='--native off --parts local'"
    with pytest.raises(Defect, match=options) as caught, places.kept("again", "--parts local"):
        raise AssertionError
    shutil.rmtree(str(caught.value).partition("See ")[2].partition(". Again")[0])


def test_the_table_has_a_line_for_each_kind():
    lines = _table([Outcome("here", "driver", 3, "at versions 1 to 9", "2 files", "nothing")])
    assert len(lines) == 3
    assert len(set(map(len, lines))) == 1
    assert lines[2].split(" | ")[:3] == ["| here ", "driver", "3    "]
