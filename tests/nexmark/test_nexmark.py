"""The Nexmark queries of the benches give Flink's results, line by line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).resolve().parents[2] / "benches"
for folder in (BENCHES / "nexmark", BENCHES / "running"):
    sys.path.append(str(folder))

import goldens  # noqa: E402 - the path comes first
from inputs import FORMATS, SMALL, csv_sha256  # noqa: E402
from penstock_run import environment, lines, summed  # noqa: E402
from sums import BY_CLOCK, WEIGHTS  # noqa: E402

GOLDEN = goldens.golden_of(SMALL)


@pytest.fixture(scope="module")
def events() -> Path:
    folder = SMALL.folder(FORMATS)
    assert csv_sha256(folder) == GOLDEN["csv_sha256"]
    return folder


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("query", WEIGHTS)
def test_lines_are_those_of_flink(events: Path, query: str, format: str) -> None:
    results = {query: lines(environment("local"), query, format, events)}
    assert list(goldens.differences(GOLDEN, results)) == []


@pytest.mark.parametrize("query", WEIGHTS)
def test_sums_are_those_of_flink(events: Path, query: str) -> None:
    rows, checksum = summed(environment("local"), query, "jsonl", events)
    assert checksum == GOLDEN["queries"][query]["checksum"]
    assert rows == GOLDEN["queries"][query]["rows"] or query in BY_CLOCK


def test_a_missing_line_is_noticed(events: Path) -> None:
    results = {"q3": lines(environment("local"), "q3", "csv", events)[1:]}
    assert [text.partition(":")[0] for text in goldens.differences(GOLDEN, results)] == ["q3"]
