"""Tasks that die and are tried again leave exactly what they would have left."""

from __future__ import annotations

import pytest

from penstock.local import LocalExecutor
from tests.runtime.dying import PLACES, facts, fail, kill, leave, mortal


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    found = facts(LocalExecutor(), mortal(folder / "out", folder / "marker"), folder / "out")
    assert found["names"] == ["left", "right"]
    assert all(found["collected"].values())
    assert len(found["files"]) == 3
    return found


@pytest.mark.parametrize(
    ("place", "dies"),
    [*((place, kill) for place in PLACES), ("window", leave), ("process", fail), ("close of keyed", fail)],
)
def test_nothing_is_lost_and_nothing_counts_twice(executor, tmp_path, expected, place, dies):
    marker, out = tmp_path / "marker", tmp_path / "out"
    found = facts(executor, mortal(out, marker, place, dies), out)
    assert marker.exists()
    assert max(report.attempt for report in executor.reports) == (3 if dies is fail else 1)
    assert found == expected
