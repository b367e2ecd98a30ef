"""Nexmark at its smallest, without Java but for Spark: that everything runs. ``make bench-nexmark`` measures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import engines
from conftest import ROOT

NEXMARK = ROOT / "benches" / "nexmark"
sys.path.append(str(NEXMARK))

import goldens  # noqa: E402 - the path comes first
import systems  # noqa: E402
from inputs import FORMATS, SMALL  # noqa: E402
from sums import WEIGHTS  # noqa: E402

import jars  # noqa: E402


def run(*arguments: str) -> str:
    command = [sys.executable, str(Path(NEXMARK, "run.py")), *arguments]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-3000:]
    return completed.stdout


def test_rounds_of_all_systems_are_equal() -> None:
    both = ["--systems", "penstock-local,duckdb,python-loop", "--formats", "csv,parquet", "--queries", "q2,q8"]
    printed = run("--events", "20000", "--rounds", "2", *both)
    assert "| q8 | parquet |" in printed
    assert printed.endswith("All results are equal.\n")


def test_a_profile_has_the_parts() -> None:
    # fewer events take too little time for a sample of each part
    assert "operators" in run("profile", "--events", "100000", "--queries", "q5")


def report(folder: Path, lines: list[dict[str, object]], page: str) -> tuple[str, Path]:
    """What report.py makes of a page, and where its plot is."""
    rounds, path, plot = (folder / name for name in ("rounds.jsonl", "native.md", "nexmark.png"))
    rounds.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    path.write_text(page)
    command = [sys.executable, str(NEXMARK / "report.py"), str(rounds), "--page", str(path), "--plot", str(plot)]
    subprocess.run(command, check=True)
    return path.read_text(), plot


def test_the_report_has_a_row_for_each_query(tmp_path: Path) -> None:
    facts = {"set": "2000-s1-d500-r10000", "format": "csv", "round": 0, "wall": 9.0, "rows": 5, "checksum": 7}
    seconds = {
        ("q0", "flink"): 3.0,
        ("q0", "penstock-local"): 1.0,
        ("q12", "flink"): 2.0,
        ("q12", "penstock-local"): 4.0,
    }
    lines = [{**facts, "query": query, "system": system, "cpu": cpu} for (query, system), cpu in seconds.items()]
    page = "before\n<!-- figures: written by benches/nexmark/report.py -->\nold\n<!-- /figures -->\nafter\n"
    text, plot = report(tmp_path, lines, page)
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("<!-- /figures -->\nafter\n")
    assert "| q0 | csv | 1 | 2 | 3.0 |  |" in text
    assert "| q12 | csv | 1 | 0 | 0.5 | nothing |" in text
    assert plot.stat().st_size > 1000


def test_the_report_forms_ratios_of_the_last_run_with_peers(tmp_path: Path) -> None:
    facts = {"format": "csv", "round": 0, "wall": 9.0, "rows": 5, "checksum": 7}
    rounds = [
        ("old", "2000-s1-d500-r10000", "penstock-local", 1.0),
        ("old", "200-s1-d500-r10000", "pyflink", 1.0),
        ("new", "2000-s1-d500-r10000", "penstock-local", 0.5),
        ("new", "200-s1-d500-r10000", "pyflink", 2.0),
        ("new", "2000-s1-d500-r10000", "beam", 2.5),
        ("without peers", "2000-s1-d500-r10000", "penstock-local", 9.0),
    ]
    lines = [{**facts, "run": run, "set": of, "query": "q0", "system": it, "cpu": cpu} for run, of, it, cpu in rounds]
    lines += [{**line, "query": "q16"} for line in lines if line["system"] != "beam"]
    page = "before\n<!-- peers: written by benches/nexmark/report.py -->\nold\n<!-- /peers -->\nafter\n"
    text, plot = report(tmp_path, lines, page)
    assert "old" not in text
    assert "read 2,000 events;\nPyFlink 2.3 read 200 of" in text
    assert "| q0 | 4.0 | 0.1 | 40.0 | 0.8 | 5.0 |" in text
    assert "| q16 | 4.0 | 0.1 | 40.0 |  |  |" in text
    assert not plot.exists()


def test_lines_on_pyflink_are_those_of_flink() -> None:
    if not engines.installed("PyFlink") or not jars.JARS["flink"].exists():
        pytest.skip("PyFlink, or the programs in Java, have not been installed by a measurement")
    results = systems.lines("pyflink", ["q3", "q8"], "csv", SMALL.folder(FORMATS))
    assert list(goldens.differences(goldens.golden_of(SMALL), results)) == []


def test_beam_runs_its_own_suite() -> None:
    if not jars.JARS["beam"].exists():
        pytest.skip("Beam has not been installed by a measurement")
    assert [one.events for one in systems.rounds("beam", "q2", "csv", SMALL, 2)] == [20_000, 20_000]


@pytest.mark.spark
def test_lines_on_spark_are_those_of_flink() -> None:
    results = systems.lines("penstock-spark", list(WEIGHTS), "csv", SMALL.folder(FORMATS))
    assert list(goldens.differences(goldens.golden_of(SMALL), results)) == []
