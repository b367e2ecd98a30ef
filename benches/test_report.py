"""The report says what the figures say, and the README shows the committed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import instructions
import plots
import report
import results as store
import speed
import targets
from results import KEY, Results, gather, load, save

FLINK = "Flink 1.11.4"


def line(phase: str, size: int, peer: str, **facts: Any) -> dict[str, Any]:
    shape = "all_to_all" if phase in ("connect", "execution edges") else "layered_dag"
    return {"phase": phase, "shape": shape, "size": size, "peer": peer, **facts}


def made(*lines: dict[str, Any]) -> Results:
    return Results({}, {}, gather(lines))


def row_of(found: Results, words: str) -> targets.Row:
    return next(row for row in targets.rows(found) if words in row.target)


def test_the_readme_shows_the_committed_figures() -> None:
    found = load()
    text = report.README.read_text()
    assert report.put_into(text, report.section(found)) == text, "python benches/report.py writes it anew"
    assert (store.FOLDER / "README.md").read_text() == report.full(found)
    shown = text.partition(report.BEGIN)[2].partition(report.END)[0]
    assert len(targets.rows(found)) > 15
    assert all(f"| {row.target} | {row.measured} |" in shown for row in report.targets_of(found))
    assert report.PERFORMANCE.read_text() == report.with_tables(report.PERFORMANCE.read_text(), found)


def test_markers_that_are_gone_are_missed() -> None:
    assert (
        report.put_into(f"a\n{report.BEGIN}\nold\n{report.END}\nb", "new") == f"a\n{report.BEGIN}\nnew\n{report.END}\nb"
    )
    with pytest.raises(SystemExit, match="markers"):
        report.put_into("no markers", "new")


@pytest.mark.parametrize(
    ("theirs", "equal", "verdict"), [(0.6, True, "met"), (0.4, True, "**missed**"), (0.6, False, "**wrong result**")]
)
def test_a_target_is_met_with_equal_results_only(theirs: float, equal: bool, verdict: str) -> None:
    ours = line("hash", 1_000_000, "Penstock", seconds=[0.04, 0.05, 0.09])
    flink = line("hash", 1_000_000, FLINK, seconds=[theirs], checksum_equal=equal)
    row = row_of(made(ours, flink), f"≥ 10× faster than {FLINK}")
    assert row.verdict == verdict
    assert row.measured.endswith(": 50 ms)")


def test_what_was_not_measured_or_died_is_said() -> None:
    assert {row.verdict for row in targets.rows(made())} == {"not measured"}
    flink = line("job graph", 1_000_000, FLINK, died="OutOfMemoryError")
    ours = line("job graph", 1_000_000, "Penstock", seconds=[1])
    row = row_of(made(ours, flink), f"1,000,000: ≥ 100× less time than {FLINK}")
    assert (row.verdict, row.measured) == ("not measured", "the peer died: OutOfMemoryError")


def test_edges_are_compared_with_another_phase_of_flink() -> None:
    ours = line("execution edges", 8_000, "Penstock", seconds=[0.5])
    row = row_of(made(ours, line("connect", 8_000, FLINK, seconds=[6])), "than Flink 1.11.4 connects")
    assert (row.met, row.measured) == (True, "12× (6 s : 500 ms)")


def counted(peer: str, size: int, cpu: float, *, equal: bool = True) -> dict[str, Any]:
    facts = {"phase": "word count", "shape": "running sums", "size": size, "peer": peer, "checksum_equal": equal}
    return {**facts, "seconds": [cpu / 2], "cpu_seconds": [cpu], "jvm_seconds": 0.5}


@pytest.mark.parametrize(
    ("cpu", "equal", "verdict"), [(4, True, "met"), (6, True, "**missed**"), (4, False, "**wrong result**")]
)
def test_engines_are_compared_by_records_per_cpu_second(cpu: float, equal: bool, verdict: str) -> None:
    """The peer may have counted fewer words."""
    found = made(counted("Penstock", 5_000_000, cpu), counted("PyFlink", 1_000_000, 20, equal=equal))
    row = next(row for row in speed.rows(found) if "PyFlink" in row.target)
    assert row.verdict == verdict
    assert row.measured.startswith("25×" if cpu == 4 else "16.7×")


def test_documents_take_their_tables_from_the_figures() -> None:
    assert report.with_tables("no tables", made()) == "no tables"
    document = "a\n<!-- measured: word_count -->\nold\n<!-- /measured -->\nb"
    shown = report.with_tables(document, made(counted("Bytewax", 1_000, 2)))
    assert "old" not in shown
    assert "| Bytewax | 1,000 | 500 | 2 | 0.5 | 1 s |  |  | equal |\n<!-- /measured -->\nb" in shown
    with pytest.raises(KeyError, match="gone"):
        report.with_tables(document.replace("word_count", "gone"), made())


def test_a_run_of_some_steps_keeps_the_other_figures() -> None:
    before = Results(
        {"date": "1"},
        {"a": {}, "b": {}},
        gather([line("hash", 1, FLINK, seconds=[1]), line("hash", 2, FLINK, seconds=[1])]),
    )
    after = store.updated(
        before, Results({"date": "2"}, {"b": {"x": 1}}, gather([line("hash", 2, FLINK, seconds=[3])]))
    )
    assert (after.machine, after.steps) == ({"date": "2"}, {"a": {}, "b": {"x": 1}})
    assert [row["median"] for row in after.rows.values()] == [1, 3]


def test_figures_survive_being_saved(tmp_path: Path) -> None:
    found = Results(
        {"date": "2026-01-01"}, {"api": {"ended": "passed"}}, gather([line("hash", 10, FLINK, seconds=[0.123456])])
    )
    save(found, tmp_path / "results.json")
    assert load(tmp_path / "results.json") == found
    assert found.seconds("hash", "layered_dag", 10, FLINK) == 0.123
    assert list(found.rows) == [("hash", "layered_dag", 10, FLINK)]
    assert len(KEY) == 4


def test_lines_about_one_thing_add_up() -> None:
    found = made(line("build", 10, "Penstock", seconds=[1]), line("build", 10, "Penstock", seconds=None, peak_bytes=7))
    assert found.find("build", "layered_dag", 10) == {"median": 1, "rounds": 1, "peak_bytes": 7}


def test_plots_are_small(tmp_path: Path) -> None:
    plots.draw(load(), tmp_path)
    pictures = list(tmp_path.glob("*.png"))
    assert len(pictures) == 4
    assert all(1_000 < picture.stat().st_size < 200_000 for picture in pictures)


def test_the_guard_holds_growth_and_tells_savings(capsys: pytest.CaptureFixture[str]) -> None:
    here = {"rustc": "1.95.0", "target": "x86_64-unknown-linux-gnu"}
    baseline = {**here, "instructions": {"ids layered_dag 10": 1000}}
    compare = lambda count, **other: instructions.compare(baseline, {**here, **other}, {"ids layered_dag 10": count})  # noqa: E731
    assert compare(1029) == []
    assert "+5.0%" in compare(1050)[0]
    assert compare(1050, rustc="1.96.0") == []
    assert compare(1300, rustc="1.96.0") != []
    assert compare(900) == []
    assert "cheaper than recorded" in capsys.readouterr().out
    assert "other phases" in instructions.compare(baseline, here, {})[0]


def test_the_guard_knows_what_is_not_linear() -> None:
    counts = {instructions.key(case): 100 * case[2] for case in instructions.cases()}
    assert instructions.not_linear(counts) == []
    phase, shape, size = instructions.LINEAR[0]
    counts[instructions.key((phase, shape, 2 * size))] *= 2
    assert "4.00 times" in instructions.not_linear(counts)[0]
