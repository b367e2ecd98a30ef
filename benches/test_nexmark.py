"""Nexmark at its smallest, without Java but for Spark: that everything runs. ``make bench-nexmark`` measures."""

from __future__ import annotations

import json
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
    # fewer events take too little time for a sample of each part
    assert "operators" in run("profile", "--events", "100000", "--queries", "q5")


def test_the_report_has_a_row_for_each_query(tmp_path: Path) -> None:
    facts = {"set": "2000-s1-d500-r10000", "format": "csv", "round": 0, "wall": 9.0, "rows": 5, "checksum": 7}
    seconds = {
        ("q0", "flink"): 3.0,
        ("q0", "penstock-local"): 1.0,
        ("q12", "flink"): 2.0,
        ("q12", "penstock-local"): 4.0,
    }
    lines = [{**facts, "query": query, "system": system, "cpu": cpu} for (query, system), cpu in seconds.items()]
    rounds, page, plot = (tmp_path / name for name in ("rounds.jsonl", "native.md", "nexmark.png"))
    rounds.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    page.write_text("before\n<!-- figures: written by benches/nexmark/report.py -->\nold\n<!-- /figures -->\nafter\n")
    command = [sys.executable, str(NEXMARK / "report.py"), str(rounds), "--page", str(page), "--plot", str(plot)]
    subprocess.run(command, check=True)
    text = page.read_text()
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("<!-- /figures -->\nafter\n")
    assert "| q0 | csv | 1 | 2 | 3.0 |  |" in text
    assert "| q12 | csv | 1 | 0 | 0.5 | nothing |" in text
    assert plot.stat().st_size > 1000


@pytest.mark.spark
def test_lines_on_spark_are_those_of_flink() -> None:
    results = systems.lines("penstock-spark", list(WEIGHTS), "csv", SMALL.folder(FORMATS))
    assert list(goldens.differences(goldens.golden_of(SMALL), results)) == []
