"""Writes the figures of docs/native.md: its tables, and the plot beside the first.

    python run.py --events 2000000 --out rounds.jsonl && python report.py rounds.jsonl
    python run.py --systems penstock-local,pyflink,beam --formats csv --out peers.jsonl && python report.py peers.jsonl

The first table is written where the files have rounds of Flink: of several sets of events the last one counts. Its last
column is not measured: the programs are planned here, with this version of Penstock, and it says what their plans say.
The second is written where they have rounds of PyFlink or Beam, of which the last run counts.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from inputs import FORMATS, SMALL
from matplotlib.figure import Figure
from penstock_events import FORMATS as READERS
from penstock_queries import QUERIES
from penstock_run import environment
from sums import WEIGHTS, Sum
from systems import LOOP, Round

from penstock.analysis.native_code import PYTHON, called_in_python, verdicts_of
from penstock.common import Types
from run import Measured, thousands, unequal

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, PLOT = DOCS / "native.md", DOCS / "figures" / "nexmark.png"
BEGIN, END = "<!-- {}: written by benches/nexmark/report.py -->\n", "<!-- /{} -->\n"
GOAL = 2.0  # of Flink's events per CPU second
SPARK = "penstock-spark"
PEER, OURS, OFF = "flink", ("penstock-local", SPARK), ("penstock-off", LOOP)
SAYS = {"penstock-local": "Penstock, local", "penstock-spark": "Penstock on Spark", "penstock-off": "local, native off"}
SAYS[LOOP] = "a loop"
INTRODUCTION = (
    "Thousands of events per CPU second, of {events:,} events, with equal results; × is the ratio to Flink's. Of",
    "queries below {goal:.0f}× the last column has the functions that are not compiled; where there is no reason,",
    "their operator has no native form, and calls them in Python; *nothing* where all of the query is native.",
    "*Less Spark* is the ratio without the CPU time of Spark's JVM, which plans jobs and passes records on.",
    "*A loop* is its functions alone, called one after the other in one loop of Python: no engine that calls them is",
    "much quicker.",
)
PEERS = {"pyflink": "PyFlink", "beam": "Beam on Flink"}
BESIDE = (
    "Thousands of events per CPU second in one run; × is how many times as many Penstock does as the peer before it.",
    "Penstock's local executor read {events} events;",
)
READ = {  # and of each peer, a line
    "pyflink": "PyFlink 2.3 read {events} of the same generator, with the results that Penstock has of these",
    "beam": "Beam 2.62 on Flink 1.19 ran the queries of its own suite on {events} events that it makes itself",
}
COLOURS = {"penstock-local": "#c1121f", "penstock-spark": "#f4a261"}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", type=Path, help="what run.py --out has written")
    options.add_argument("--page", type=Path, default=PAGE, help="the page with the table")
    options.add_argument("--plot", type=Path, default=PLOT, help="the file of the plot")
    arguments = options.parse_args()
    lines = [json.loads(line) for file in arguments.files for line in file.read_text().splitlines() if line.strip()]
    measured, beside = of_last_set(lines), of_last_run(lines)
    wrong = [*unequal(measured), *unequal(beside)]
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    page = arguments.page.read_text(encoding="utf-8")
    if any(system == PEER for _, _, system in measured):
        page = with_table(page, "figures", table(measured))
        draw(measured, arguments.plot)
    if beside:
        page = with_table(page, "peers", table_beside(beside))
    arguments.page.write_text(page, encoding="utf-8")
    return 0


Line = dict[str, Any]


def of_last_set(lines: Sequence[Line]) -> Measured:
    """The rounds with the last set of events that Flink or Penstock had."""
    lines = [line for line in lines if line["system"] not in PEERS]
    return by_place(line for line in lines if line["set"] == lines[-1]["set"])


def of_last_run(lines: Sequence[Line]) -> Measured:
    """Those of the last run that had PyFlink or Beam; without formats that these do not read."""
    runs = [line["run"] for line in lines if line["system"] in PEERS]
    return by_place(line for line in lines if runs and line.get("run") == runs[-1] and line["format"] == "csv")


def by_place(lines: Iterable[Line]) -> Measured:
    """Rounds by query, format and system."""
    measured = Measured()
    for line in lines:
        place = line["query"], line["format"], line["system"]
        facts = {field.name: line[field.name] for field in dataclasses.fields(Round) if field.name in line}
        events = int(line["set"].partition("-")[0])
        measured.setdefault(place, []).append(Round(**{"events": events, **facts}))
    return measured


def with_table(page: str, name: str, table: str) -> str:
    """The page with a table written again."""
    begin, end = BEGIN.format(name), END.format(name)
    before, opening, rest = page.partition(begin)
    _, closing, after = rest.partition(end)
    assert opening, f"the page has no line {begin!r}, behind which the table goes"
    assert closing, f"the page has no line {end!r}, before which the table goes"
    return f"{before}{begin}{table}\n{end}{after}"


def table(measured: Measured) -> str:
    """A row for each query and format that Flink has been measured with."""
    systems = [system for system in (*OURS, *OFF) if any(place[2] == system for place in measured)]
    heads = ["query", "format", "Flink", *(head for system in systems for head in heads_of(system)), "stays in Python"]
    lines = [f"| {' | '.join(heads)} |", "| --- | --- |" + " ---: |" * (len(heads) - 3) + " --- |"]
    reasons: dict[str, str] = {}
    for query, form in dict.fromkeys((query, form) for query, form, system in measured if system == PEER):
        flink = measured[query, form, PEER]
        cells, slow = [query, form, f"{thousands(flink):,.0f}"], False
        for system in systems:
            rounds = measured.get((query, form, system))
            if rounds is None:
                cells += [""] * len(heads_of(system))
                continue
            ratios = ratios_of(system, rounds, flink)
            cells += [f"{thousands(rounds):,.0f}", *(f"{ratio:.1f}" for ratio in ratios)]
            slow |= system not in OFF and ratios[-1] < GOAL
        if slow and query not in reasons:
            reasons[query] = in_python(query, form)
        lines.append(f"| {' | '.join([*cells, reasons[query] if slow else ''])} |")
    events = max(one.events for rounds in measured.values() for one in rounds)
    return "\n".join([*(line.format(events=events, goal=GOAL) for line in INTRODUCTION), "", *lines]) + "\n"


def heads_of(system: str) -> list[str]:
    """The columns of a system."""
    return [SAYS[system], "×", "less Spark"] if system == SPARK else [SAYS[system], "×"]


def ratios_of(system: str, rounds: Sequence[Round], flink: Sequence[Round]) -> list[float]:
    """Its ratios to Flink; the last is what the goal is about."""
    return [ratio(rounds, flink), *([ratio(rounds, flink, with_spark=False)] if system == SPARK else [])]


def table_beside(measured: Measured) -> str:
    """A row for each query that PyFlink or Beam has been measured with, beside Penstock's local executor."""
    ours = {query: rounds for (query, _, system), rounds in measured.items() if system == OURS[0]}
    peers = {
        peer: {query: rounds for (query, _, system), rounds in measured.items() if system == peer and query in ours}
        for peer in PEERS
    }
    peers = {peer: rounds for peer, rounds in peers.items() if rounds}
    heads = ["query", SAYS[OURS[0]], *(head for peer in peers for head in (PEERS[peer], "×"))]
    lines = [f"| {' | '.join(heads)} |", "| --- |" + " ---: |" * (len(heads) - 1)]
    for query in (query for query in QUERIES if any(query in rounds for rounds in peers.values())):
        cells = [query, shown(thousands(ours[query]))]
        for rounds in (by_query.get(query) for by_query in peers.values()):
            cells += [shown(thousands(rounds)), shown(ratio(ours[query], rounds))] if rounds else ["", ""]
        lines.append(f"| {' | '.join(cells)} |")
    read = ";\n".join(READ[peer].format(events=events_of(rounds)) for peer, rounds in peers.items())
    return "\n".join([*(line.format(events=events_of(ours)) for line in BESIDE), f"{read}.", "", *lines]) + "\n"


def events_of(by_query: dict[str, list[Round]]) -> str:
    """How many events rounds had."""
    return " or ".join(f"{number:,}" for number in sorted({rounds[0].events for rounds in by_query.values()}))


def shown(number: float) -> str:
    """A number, with a decimal where it is small."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}"


def ratio(rounds: Sequence[Round], others: Sequence[Round], *, with_spark: bool = True) -> float:
    """How many times as many events per CPU second as the others."""
    return thousands(rounds, with_spark=with_spark) / thousands(others)


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
            (place + number * width, ratio(measured[query, form, system], measured[query, form, PEER]))
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
