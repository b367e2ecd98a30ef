"""Writes the figures of docs/native.md: its table, and the plot beside it.

    python run.py --events 2000000 --out rounds.jsonl && python report.py rounds.jsonl

Of several sets of events in the files the last one counts. The last column is not measured: the programs are planned
here, with this version of Penstock, and it says what their plans say.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from inputs import FORMATS, SMALL
from matplotlib.figure import Figure
from penstock_events import FORMATS as READERS
from penstock_queries import QUERIES
from penstock_run import environment
from sums import WEIGHTS, Sum
from systems import Round

from penstock.analysis.native_code import PYTHON, called_in_python, verdicts_of
from penstock.common import Types
from run import Measured, seconds, unequal

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, PLOT = DOCS / "native.md", DOCS / "figures" / "nexmark.png"
MARKS = ("<!-- figures: written by benches/nexmark/report.py -->\n", "<!-- /figures -->\n")
GOAL = 2.0  # of Flink's events per CPU second
PEER, OURS = "flink", ("penstock-local", "penstock-spark")
SAYS = {"penstock-local": "Penstock, local", "penstock-spark": "Penstock on Spark"}
INTRODUCTION = (
    "Thousands of events per CPU second, of {events:,} events, with equal results; × is the ratio to Flink's. Of",
    "queries below {goal:.0f}× the last column has the functions that are not compiled; where there is no reason,",
    "their operator has no native form, and calls them in Python; *nothing* where all of the query is native.",
)
COLOURS = {"penstock-local": "#c1121f", "penstock-spark": "#f4a261"}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", type=Path, help="what run.py --out has written")
    options.add_argument("--page", type=Path, default=PAGE, help="the page with the table")
    options.add_argument("--plot", type=Path, default=PLOT, help="the file of the plot")
    arguments = options.parse_args()
    events, measured = read(arguments.files)
    wrong = unequal(measured)
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    text = arguments.page.read_text(encoding="utf-8")
    arguments.page.write_text(with_table(text, events, measured), encoding="utf-8")
    draw(measured, arguments.plot)
    return 0


def read(files: Sequence[Path]) -> tuple[int, Measured]:
    """The number of events of the last set in some files, and its rounds."""
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines() if line.strip()]
    name, measured = lines[-1]["set"], Measured()
    for line in lines:
        if line.pop("set") == name:
            place = line.pop("query"), line.pop("format"), line.pop("system")
            measured.setdefault(place, []).append(Round(**line))
    return int(name.partition("-")[0]), measured


def with_table(page: str, events: int, measured: Measured) -> str:
    """The page with its table anew."""
    before, begin, rest = page.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    assert begin, f"the page has no line {MARKS[0]!r}, behind which the table goes"
    assert end, f"the page has no line {MARKS[1]!r}, before which the table goes"
    return f"{before}{begin}{table(events, measured)}\n{end}{after}"


def table(events: int, measured: Measured) -> str:
    """A row for each query and format that Flink has been measured with."""
    systems = [system for system in OURS if any(place[2] == system for place in measured)]
    heads = ["query", "format", "Flink", *(head for system in systems for head in (SAYS[system], "×"))]
    heads.append("stays in Python")
    lines = [f"| {' | '.join(heads)} |", "| --- | --- |" + " ---: |" * (len(heads) - 3) + " --- |"]
    reasons: dict[str, str] = {}
    for query, form in dict.fromkeys((query, form) for query, form, system in measured if system == PEER):
        flink = seconds(measured[query, form, PEER])
        cells, slow = [query, form, thousands(events, flink)], False
        for system in systems:
            rounds = measured.get((query, form, system))
            cells += [thousands(events, seconds(rounds)), f"{flink / seconds(rounds):.1f}"] if rounds else ["", ""]
            slow |= rounds is not None and flink / seconds(rounds) < GOAL
        if slow and query not in reasons:
            reasons[query] = in_python(query, form)
        lines.append(f"| {' | '.join([*cells, reasons[query] if slow else ''])} |")
    return "\n".join([*(line.format(events=events, goal=GOAL) for line in INTRODUCTION), "", *lines]) + "\n"


def thousands(events: int, cpu: float) -> str:
    """Thousands of events per CPU second."""
    return f"{events / cpu / 1000:,.0f}"


def in_python(query: str, format: str) -> str:
    """The functions of a query that stay in Python, with the reasons, as cells of a table have them; those that their
    operators call in Python are only named."""
    reasons: dict[str, list[str]] = {}
    for name, function, reason in functions_in_python(query, format):
        shown = "" if reason == called_in_python(name) else f": {reason}"
        reasons.setdefault(shown, []).append(f"{function} of {name}" if function else name)
    parts = (", ".join(dict.fromkeys(names)) + reason for reason, names in reasons.items())
    return "; ".join(parts).replace("|", "\\|") or "nothing"


def functions_in_python(query: str, format: str) -> Iterator[tuple[str, str, str]]:
    """Of the functions of a query that stay in Python: operator, function, reason."""
    env: Any = environment("local")
    results = QUERIES[query](READERS[format](env, SMALL.folder(FORMATS)))
    results.map(WEIGHTS[query], Types.LONG()).add_sink(Sum("sums"))
    for operator in verdicts_of(env.to_pipeline(query)):
        for verdict in operator.functions:
            if verdict.verdict == PYTHON:
                yield operator.type, verdict.function and f"`{verdict.function}`", verdict.reason


def draw(measured: Measured, path: Path) -> None:
    """The ratios to Flink as bars, of the first format of each query."""
    forms = {query: form for query, form, system in reversed(list(measured)) if system == PEER}
    queries = [query for query in QUERIES if query in forms]
    systems = [system for system in OURS if any(place[2] == system for place in measured)]
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    axis = figure.add_subplot()
    width = 0.8 / len(systems)
    for number, system in enumerate(systems):
        bars = [
            (place + number * width, seconds(measured[query, form, PEER]) / seconds(measured[query, form, system]))
            for place, query in enumerate(queries)
            if (query, form := forms[query], system) in measured
        ]
        axis.bar(*zip(*bars, strict=True), width, label=SAYS[system], color=COLOURS[system])
    axis.axhline(1, color="#003049", linewidth=1, label="Flink 2.3, Java")
    middle = (len(systems) - 1) * width / 2
    axis.set_xticks([place + middle for place in range(len(queries))], queries)
    axis.set(ylabel="events per CPU second,\nas a multiple of Flink's")
    axis.grid(axis="y", alpha=0.3)
    axis.set_axisbelow(True)
    axis.legend(fontsize=7)
    figure.savefig(path, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    sys.exit(main())
