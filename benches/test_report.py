"""The report says what the figures say, each ratio from one run, and the documents show the committed ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import calibration
import headlines
import instructions
import plots
import report
import results as store
import run as bench
import speed
import steps
import tables
import targets
from results import KEY, Results, Run, gather, load, merged, save
from speed import SIZE

FLINK = "Flink 1.11.4"
STEPS = {FLINK: "flink", "PyFlink": "engines", "Bytewax": "engines"}


def line(phase: str, size: int, peer: str, **facts: Any) -> dict[str, Any]:
    shape = "all_to_all" if phase in ("connect", "execution edges") else "layered_dag"
    return {"phase": phase, "shape": shape, "size": size, "peer": peer, "step": STEPS.get(peer, "planner"), **facts}


def run(number: int, *lines: dict[str, Any], loop: float = 0.04, **facts: Any) -> Run:
    """A run on a day of its own, of the steps that its lines are of."""
    facts = {"commit": f"c{number}", "machine": {"processor": f"machine {number}"}, **facts}
    steps = {
        name: {"started": "", "seconds": 1, "ended": "passed", "calibration": [loop, loop]}
        for name in dict.fromkeys(line["step"] for line in lines)
    }
    return Run(f"2026-01-{number:02}", f"2026-01-{number:02} 10:00 UTC", steps=steps, rows=gather(lines), **facts)


def results_of(*lines: dict[str, Any]) -> Results:
    return merged([run(1, *lines)])


def row_of(results: Results, words: str) -> targets.Row:
    return next(row for row in tables.targets_of(results) if words in row.target)


def test_the_documents_show_the_committed_figures() -> None:
    results = load()
    for path, text in report.documents(results).items():
        assert path.read_text() == text, f"{path.name}: python benches/report.py writes it anew"
    shown = (store.FOLDER / "README.md").read_text()
    assert len(targets.rows(results)) > 15
    assert all(f"| {row.target} | {row.measured} |" in shown for row in tables.targets_of(results))
    assert len(headlines.text(results).splitlines()) == 5
    assert headlines.text(results) in report.README.read_text()


def test_every_plot_that_is_shown_is_there() -> None:
    for page, count in ((report.PERFORMANCE, 1), (store.FOLDER / "README.md", 4)):
        pictures = re.findall(r"!\[.*\]\((.*)\)", page.read_text())
        assert len(pictures) == count
        assert all((page.parent / picture).is_file() for picture in pictures)


def test_markers_that_are_gone_are_missed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    begin, end = report.HEADLINES
    page.write_text(f"a\n{begin}\nold\n{end}\nb")
    assert report.put_into(page, report.HEADLINES, "new") == f"a\n{begin}\nnew\n{end}\nb"
    page.write_text("no markers")
    with pytest.raises(SystemExit, match=r"page\.md has lost its markers"):
        report.put_into(page, report.HEADLINES, "new")


@pytest.mark.parametrize(
    ("theirs", "equal", "verdict"), [(0.6, True, "met"), (0.4, True, "**missed**"), (0.6, False, "**wrong result**")]
)
def test_a_target_is_met_with_equal_results_only(theirs: float, equal: bool, verdict: str) -> None:
    ours = line("hash", 1_000_000, "Penstock", seconds=[0.04, 0.05, 0.09])
    flink = line("hash", 1_000_000, FLINK, seconds=[theirs], checksum_equal=equal)
    row = row_of(results_of(ours, flink), f"≥ 10× faster than {FLINK}")
    assert row.verdict == verdict
    assert row.measured.endswith(": 50 ms)")


def test_what_was_not_measured_or_died_is_said() -> None:
    assert {row.verdict for row in targets.rows(results_of())} == {"not measured"}
    flink = line("job graph", 1_000_000, FLINK, died="OutOfMemoryError")
    ours = line("job graph", 1_000_000, "Penstock", seconds=[1])
    row = row_of(results_of(ours, flink), f"1,000,000: ≥ 100× less time than {FLINK}")
    assert (row.verdict, row.measured) == ("not measured", "the peer died: OutOfMemoryError")


def test_edges_are_compared_with_another_phase_of_flink() -> None:
    ours = line("execution edges", 8_000, "Penstock", seconds=[0.5])
    row = row_of(results_of(ours, line("connect", 8_000, FLINK, seconds=[6])), "than Flink 1.11.4 connects")
    assert (row.met, row.measured) == (True, "12× (6 s : 500 ms)")


def counted(peer: str, size: int, cpu: float, *, equal: bool = True) -> dict[str, Any]:
    facts = {"phase": "word count", "shape": "running sums", "size": size, "peer": peer, "checksum_equal": equal}
    facts["step"] = STEPS.get(peer, "word_count")
    return {**facts, "seconds": [cpu / 2], "cpu_seconds": [cpu], "jvm_seconds": 0.5}


@pytest.mark.parametrize(
    ("cpu", "equal", "verdict"), [(4, True, "met"), (6, True, "**missed**"), (4, False, "**wrong result**")]
)
def test_engines_are_compared_by_records_per_cpu_second(cpu: float, equal: bool, verdict: str) -> None:
    """The peer may have counted fewer words."""
    results = results_of(counted("Penstock", 5_000_000, cpu), counted("PyFlink", 1_000_000, 20, equal=equal))
    row = row_of(results, "PyFlink")
    assert row.verdict == verdict
    assert row.measured.startswith("25×" if cpu == 4 else "16.7×")


def test_documents_take_their_tables_from_the_figures() -> None:
    assert report.with_tables("no tables", results_of()) == "no tables"
    document = "a\n<!-- measured: word_count -->\nold\n<!-- /measured -->\nb"
    shown = report.with_tables(document, results_of(counted("Bytewax", 1_000, 2)))
    assert "old" not in shown
    assert "| Bytewax | 1,000 | 500 | 1 s |  | equal |\n<!-- /measured -->\nb" in shown
    with pytest.raises(KeyError, match="gone"):
        report.with_tables(document.replace("word_count", "gone"), results_of())


def words_of(number: int, *peers: str, slower: float = 1, **facts: Any) -> Run:
    """A run of the word count, on a machine that may be slower."""
    cpu = {"Penstock": 4, "mapInArrow": 5, "Bytewax": 16, "PyFlink": 1_000}
    return run(number, *(counted(peer, SIZE, slower * cpu[peer]) for peer in peers), loop=0.04 * slower, **facts)


def ratios(results: Results) -> dict[str, tuple[str, bool | None, str]]:
    """The targets that compare two peers."""
    return {row.target: (row.measured, row.met, row.run) for row in speed.rows(results) if "×" in row.target}


def test_a_word_count_alone_on_a_slower_machine_changes_no_ratio() -> None:
    """The last run of all peers is shown, and says so, on whatever machine a part is measured later."""
    full = words_of(1, "Penstock", "mapInArrow", "Bytewax", "PyFlink")
    alone = words_of(2, "Penstock", slower=2)
    before, after = merged([full]), merged([full, alone])
    assert ratios(after) == ratios(before)
    row = row_of(after, "Bytewax")
    assert (row.measured, row.verdict, row.run) == ("4× (1,250,000 : 312,000)", "**missed**", "2026-01-01 10:00 UTC")
    assert "| **missed** | equal | 2026-01-01 10:00 |" in tables.target_table([row])
    assert headlines.text(after) == headlines.text(before)
    assert speed.word_count(after) == speed.word_count(before)
    assert "| word count | running sums | Penstock | 5,000,000 | 8 s |" in tables.newer(after)
    assert tables.newer(before) == ""


def test_peers_that_the_last_run_has_are_compared_in_it() -> None:
    """`mapInArrow` belongs to the step of Penstock's word count: both are new; Bytewax is in the older run only."""
    full = words_of(1, "Penstock", "mapInArrow", "Bytewax")
    alone = words_of(2, "Penstock", "mapInArrow", slower=2)
    results = merged([full, alone])
    assert [row_of(results, peer).run[:10] for peer in ("mapInArrow", "Bytewax")] == ["2026-01-02", "2026-01-01"]
    assert row_of(results, "mapInArrow").measured == "1.25× (625,000 : 500,000)"


def test_two_machines_are_never_divided() -> None:
    ours, theirs = words_of(1, "Penstock"), words_of(2, "Bytewax", slower=2)
    for runs in ([ours, theirs], [theirs, ours]):
        row = row_of(merged(runs), "Bytewax")
        assert (row.measured, row.verdict, row.run) == ("not measured in one run yet", "not measured", "")
    assert row_of(merged([ours]), "Bytewax").measured == ""
    flink = run(2, line("hash", 1_000_000, FLINK, seconds=[1], checksum_equal=True))
    apart = merged([run(1, line("hash", 1_000_000, "Penstock", seconds=[0.05])), flink])
    assert row_of(apart, f"≥ 10× faster than {FLINK}").measured == "not measured in one run yet"
    assert "not measured in one run yet" in headlines.text(apart)


def test_no_target_is_met_by_figures_of_two_runs() -> None:
    """Every figure of the committed results in a run of its own: what compares two of them has nothing to say."""
    lines = [{**dict(zip(KEY, key, strict=True)), **row} for key, row in load().rows.items()]
    alone = [Run(f"{number:04}", f"{number:04}", rows=gather([figure])) for number, figure in enumerate(lines)]
    target_rows = tables.targets_of(Results(tuple(alone)))
    compared = [row for row in target_rows if "×" in row.measured or " %" in row.measured]
    assert compared == []
    assert sum(row.measured == "not measured in one run yet" for row in target_rows) > 15


def test_what_stands_beside_each_other_is_of_peers() -> None:
    """Tables and plots have a line per phase and shape."""
    groups: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for (phase, shape, *_), row in load().rows.items():
        groups.setdefault((phase, shape), set()).add(steps.peers(row["step"]))
    assert len(groups) > 50
    assert [place for place, peers in groups.items() if len(peers) > 1] == []


def test_the_calibration_loop_is_shown_for_each_machine() -> None:
    results = merged([words_of(1, "Penstock", "Bytewax"), words_of(2, "Penstock", slower=2.05)])
    first, second = tables.list_of_runs(results).splitlines()
    assert "**2026-01-01 10:00**, commit c1: word_count, engines. machine 1" in first
    assert "machine speed: calibration loop 40 ms." in first
    assert "machine speed: calibration loop 82 ms." in second
    assert first in report.full(results)
    note = "2026-01-02 10:00, calibration loop 82 ms; shown above: 2026-01-01 10:00, calibration loop 40 ms."
    assert note in tables.newer(results)
    assert tables.loop([0.04, 0.043, 0.041]) == "calibration loop 41 ms (40 to 43 ms)"
    assert 0 < calibration.seconds() < 10


def test_a_run_of_all_peers_takes_the_place_of_what_was_there() -> None:
    peers = ("Penstock", "mapInArrow", "Bytewax")
    planner = run(1, line("hash", 1, "Penstock", seconds=[1]))
    old, alone, new = words_of(2, *peers), words_of(3, "Penstock"), words_of(4, *peers, slower=2)
    assert merged([planner, old, alone]).runs == (planner, old, alone)
    assert merged([new, alone, old, planner, old]).runs == (planner, new)
    both = run(1, line("hash", 1, "Penstock", seconds=[1]), *(counted(peer, SIZE, 4) for peer in peers))
    kept = merged([both, new]).runs[0]
    assert list(kept.rows) == [("hash", "layered_dag", 1, "Penstock")]


def test_a_run_of_small_sizes_does_not_show_instead_of_a_whole_one() -> None:
    whole, small = (
        words_of(1, "Penstock", "Bytewax"),
        run(2, counted("Penstock", 9, 1), counted("Bytewax", 9, 1), largest=9),
    )
    assert merged([whole, small]).shown == {("word_count", "engines"): whole}


def test_a_ratio_is_the_median_over_pairs_of_rounds() -> None:
    rows = gather([line("hash", 1, FLINK, seconds=[8, 9, 100]), line("hash", 1, "Penstock", seconds=[1, 2])])
    theirs, ours = rows.values()
    assert store.ratio(theirs, ours) == 8.5
    assert store.ratio({"median": 6}, {"median": 3}) == 2


def test_a_choice_of_steps_names_the_peers_that_it_lacks() -> None:
    assert steps.without_peers(["word_count", "engines", "chain"]) == {}
    assert steps.without_peers(["word_count"]) == {("word_count", "engines"): ["engines"]}
    assert {step for group in steps.PEERS for step in group} <= steps.STEPS.keys()


def test_a_run_has_one_name_for_all_its_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def benches(name: str, folder: Path) -> str:
        peer = {"word_count": "Penstock", "engines": "Bytewax"}[name]
        (folder / f"{name}.jsonl").write_text(json.dumps(counted(peer, SIZE, 4)) + "\n")
        return "passed"

    monkeypatch.setattr(bench, "RAW", tmp_path)
    monkeypatch.setattr(bench, "pytest", benches)
    assert bench.measure(["word_count", "engines"]) == ["passed", "passed"]
    (merged_run,) = merged(store.read_raw(tmp_path)).runs
    assert {row["step"] for row in merged_run.rows.values()} == {"word_count", "engines"}
    assert merged_run.id.endswith(merged_run.commit)
    assert merged_run.machine["processor"]
    assert all(len(step["calibration"]) == 2 for step in merged_run.steps.values())
    assert row_of(Results((merged_run,)), "Bytewax").measured.startswith("1×")


def test_figures_survive_being_saved(tmp_path: Path) -> None:
    lines = [line("hash", 10, FLINK, seconds=[0.123456]), line("hash", 10, "Penstock", seconds=[1, 2], note="x")]
    results = merged([run(1, *lines, note="a note"), words_of(2, "Penstock", largest=7)])
    save(results, tmp_path / "results.json")
    assert load(tmp_path / "results.json") == results
    assert results.seconds("hash", "layered_dag", 10, FLINK) == 0.123
    assert list(results.runs[0].rows) == [("hash", "layered_dag", 10, FLINK), ("hash", "layered_dag", 10, "Penstock")]


def test_lines_about_one_thing_add_up() -> None:
    results = results_of(
        line("build", 10, "Penstock", seconds=[1]), line("build", 10, "Penstock", seconds=None, peak_bytes=7)
    )
    assert results.find("build", "layered_dag", 10) == {
        "median": 1, "rounds": 1, "peak_bytes": 7, "step": "planner",
    }  # fmt: skip


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
