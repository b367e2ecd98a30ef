"""Nexmark at its smallest, without Java but for Spark: that everything runs. ``make bench-nexmark`` measures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

NEXMARK = ROOT / "benches" / "nexmark"
sys.path.append(str(NEXMARK))

import goldens  # noqa: E402 - the path comes first
import systems  # noqa: E402
from inputs import FORMATS, SMALL  # noqa: E402
from sums import WEIGHTS  # noqa: E402


def run(*arguments: str) -> str:
    command = [sys.executable, str(Path(NEXMARK, "run.py")), *arguments]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-3000:]
    return completed.stdout


def test_rounds_of_all_systems_are_equal() -> None:
    both = ["--systems", "penstock-local,duckdb", "--formats", "csv,parquet", "--queries", "q2,q8"]
    printed = run("--events", "20000", "--rounds", "2", *both)
    assert "| q8 | parquet |" in printed
    assert printed.endswith("All results are equal.\n")


def test_a_profile_has_the_parts() -> None:
    assert "operators" in run("profile", "--events", "20000", "--queries", "q5")


@pytest.mark.spark
def test_lines_on_spark_are_those_of_flink() -> None:
    results = systems.lines("penstock-spark", list(WEIGHTS), "csv", SMALL.folder(FORMATS))
    assert list(goldens.differences(goldens.golden_of(SMALL), results)) == []
