"""Writes the report of the runs: benches/report/README.md, the tables of docs/performance.md, the plots of both, and
the figures of the README.

python benches/report.py             from benches/report/results.json
python benches/report.py --check     say whether the documents are those of results.json; change nothing
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import costs
import endless
import headlines
import results as store
import scale
import speed
from results import FOLDER, ROOT, Results
from tables import PLANNING, every_figure, list_of_runs, memory, newer, steps_of, table, target_table, targets_of

README = ROOT / "README.md"
PERFORMANCE = ROOT / "docs" / "performance.md"
PLOTS = ROOT / "docs" / "figures"
HEADLINES = ("<!-- figures: written by benches/report.py -->", "<!-- /figures -->")
RULES = (
    "Medians. Each row is of one run of `make bench`, on one machine, and says of which: figures of two runs are never "
    "divided by each other. Where the last run has only one side, the row is of the last that has both. A ratio is the "
    "median over all pairs of rounds, where there were several. The calibration loop is one of plain Python, timed "
    "around each step. Planning: wall time; of Flink the CPU time of the thread that plans, without garbage "
    "collection, in a warmed JVM; both Flinks are those of Maven Central. Running: CPU time of all processes."
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the report of the runs of the benches.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    results = store.load()
    wanted = documents(results)
    if check:
        stale = [str(path.relative_to(ROOT)) for path, text in wanted.items() if path.read_text() != text]
        print("\n".join(f"{name} is not what results.json says: python benches/report.py" for name in stale))
        return int(bool(stale))
    write(results, wanted)
    return 0


def documents(results: Results) -> dict[Path, str]:
    """What the figures make of each document."""
    return {
        FOLDER / "README.md": full(results),
        README: put_into(README, HEADLINES, headlines.text(results)),
        PERFORMANCE: with_tables(PERFORMANCE.read_text(), results),
    }


def write(results: Results, wanted: Mapping[Path, str]) -> None:
    """The documents and the plots."""
    import plots

    for path, text in wanted.items():
        path.write_text(text)
    plots.draw(results, PLOTS)


def put_into(path: Path, markers: tuple[str, str], text: str) -> str:
    """A document with the text between two markers exchanged."""
    begin, end = markers
    before, _, rest = path.read_text().partition(begin)
    _, _, after = rest.partition(end)
    if not rest or end not in rest:
        raise SystemExit(f"{path.name} has lost its markers {begin} and {end}")
    return f"{before}{begin}\n{text.strip()}\n{end}{after}"


def with_tables(document: str, results: Results) -> str:
    """A document with what stands between ``<!-- measured: NAME -->`` and ``<!-- /measured -->`` exchanged for that
    table of :mod:`tables`, :mod:`speed`, :mod:`endless`, :mod:`costs` or :mod:`scale`."""

    def filled(place: re.Match[str]) -> str:
        content = {**PLANNING, **speed.TABLES, **endless.TABLES, **costs.TABLES, **scale.TABLES}[place[1]](results)
        text = content if isinstance(content, str) else table(content[0], content[1], len(content[0]) - 1)
        return f"<!-- measured: {place[1]} -->\n{text}\n<!-- /measured -->"

    return re.sub(r"<!-- measured: (\w+) -->\n.*?<!-- /measured -->", filled, document, flags=re.S)


PLOTTED = {
    "time": "time against size",
    "memory": "memory against size",
    "exchanges": "an all-to-all exchange, as edges and as groups",
    "shapes": "every shape, time against size",
}


def full(results: Results) -> str:
    """The report."""
    title = "# Report of the benches\n\nWritten by `make bench`; `results.json` has the same figures for programs."
    parts = [title, RULES, "## Runs", list_of_runs(results), "## Targets", target_table(targets_of(results))]
    parts += [missed(results), "## Memory", memory(results), "## Plots"]
    parts.append("\n".join(f"![{words}](../../docs/figures/{name}.png)" for name, words in PLOTTED.items()))
    parts += ["## Every figure", every_figure(results), newer(results), "## Steps", steps_of(results)]
    return joined(*parts)


def joined(*parts: str) -> str:
    """Parts with an empty line between them."""
    return "\n".join(part.strip() + "\n" for part in parts if part.strip())


def missed(results: Results) -> str:
    """Why a target was missed, from the reasons written beside the report."""
    path = FOLDER / "missed.md"
    any_missed = any(row.met is False for row in targets_of(results))
    return f"## What was missed\n\n{path.read_text()}" if any_missed and path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
