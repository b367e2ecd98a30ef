"""Writes the report of a run: benches/report/README.md with its plots, the section "Measured" of the README, and the
tables of docs/performance.md.

python benches/report.py             from benches/report/results.json
python benches/report.py --check     say whether the documents are those of results.json; change nothing
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import results as store
import speed
import targets
from results import FOLDER, ROOT, Results

README = ROOT / "README.md"
PERFORMANCE = ROOT / "docs" / "performance.md"
BEGIN = "<!-- measured: written by benches/report.py -->"
END = "<!-- /measured -->"
PLANNERS = ("Penstock", *targets.FLINKS, "Python")
PEERS = (*PLANNERS, targets.PROFILED, "rustworkx", "networkx", "Rust", "NumPy", "memcpy", *speed.PEERS)
SUMMARY = (  # phase, shape: the rows of the README's second table
    ("hash", "layered_dag"),
    ("hash", "uid_table"),
    ("job graph", "layered_dag"),
    ("job graph", "keyed_pipelines"),
    ("job graph", "forward_chain"),
    ("execution graph", "layered_dag"),
)
SIZES = (10_000, 100_000, 1_000_000)
RUNNING = (
    "CPU seconds are those of all processes, JVM and Python, in a session that runs already. What starting costs, what "
    "a record costs on its way, and how all this is measured: [docs/performance.md](docs/performance.md)."
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the report of a run of the benches.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    found = store.load()
    wanted = documents(found)
    if check:
        stale = [str(path.relative_to(ROOT)) for path, text in wanted.items() if path.read_text() != text]
        print("\n".join(f"{name} is not what results.json says: python benches/report.py" for name in stale))
        return int(bool(stale))
    write(found, wanted)
    return 0


def documents(found: Results) -> dict[Path, str]:
    """What the figures make of each document."""
    return {
        FOLDER / "README.md": full(found),
        README: put_into(README.read_text(), section(found)),
        PERFORMANCE: with_tables(PERFORMANCE.read_text(), found),
    }


def write(found: Results, wanted: Mapping[Path, str]) -> None:
    """The documents and the plots."""
    import plots

    for path, text in wanted.items():
        path.write_text(text)
    plots.draw(found, FOLDER)


def put_into(document: str, text: str) -> str:
    """A document with the text between the two markers exchanged."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest or END not in rest:
        raise SystemExit(f"README.md has lost its markers {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def with_tables(document: str, found: Results) -> str:
    """A document with what stands between ``<!-- measured: NAME -->`` and ``<!-- /measured -->`` exchanged for that
    table of :mod:`speed`."""

    def filled(place: re.Match[str]) -> str:
        made = speed.TABLES[place[1]](found)
        text = made if isinstance(made, str) else table(made[0], made[1], len(made[0]) - 1)
        return f"<!-- measured: {place[1]} -->\n{text}\n<!-- /measured -->"

    return re.sub(r"<!-- measured: (\w+) -->\n.*?<!-- /measured -->", filled, document, flags=re.S)


def section(found: Results) -> str:
    """What the README shows."""
    plots = "![time against size](benches/report/time.png)\n![memory against size](benches/report/memory.png)"
    more = "Every figure, and the plots of exchanges and of shapes: [benches/report](benches/report/README.md)."
    planning = ["### Planning", target_table(targets.rows(found)), summary_table(found), plots]
    words = speed.word_count(found)
    running = ["### Running", target_table(speed.rows(found)), table(*words, len(words[0]) - 1), RUNNING]
    parts = [conditions(found), *planning, *running, missed(found), more]
    return "\n".join(part.strip() + "\n" for part in parts if part.strip())


def full(found: Results) -> str:
    """The report."""
    title = "# Report of the benches\n\nWritten by `make bench`; `results.json` has the same figures for programs."
    reached = [target_table(targets_of(found)), missed(found)]
    parts = [title, conditions(found), "## Targets", *reached, "## Memory", memory(found)]
    plots = [f"![{name}]({name}.png)" for name in ("time", "memory", "exchanges", "shapes")]
    parts += ["## Plots", "\n".join(plots), "## Every figure", every_figure(found), "## The run", run(found)]
    return "\n".join(part.strip() + "\n" for part in parts if part.strip())


def conditions(found: Results) -> str:
    """Machine, versions, date."""
    facts = dict(found.machine)
    date, processor, cores, memory_size = (facts.pop(name) for name in ("date", "processor", "cores", "memory"))
    versions = ", ".join(f"{name} {version}" for name, version in facts.items() if name != "system")
    system = facts["system"]
    return (
        f"Medians of `make bench` on {date}: {processor}, {cores} cores, {memory_size} of memory, {system}; "
        f"Flink 1.11.4 and 2.3.0 from Maven Central in a warmed JVM, {versions}. Planning: wall time; of Flink the "
        "CPU time of the thread that plans, without garbage collection. Running: CPU time of all processes."
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> str:
    """A Markdown table; the last ``numbers`` columns stand to the right."""
    rules = ["---"] * (len(head) - numbers) + ["---:"] * numbers
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rules, *rows))


def targets_of(found: Results) -> list[targets.Row]:
    """Of planning and of running."""
    return [*targets.rows(found), *speed.rows(found)]


def target_table(reached: Iterable[targets.Row]) -> str:
    """Target, measured, met or missed."""
    equal = {True: "equal", False: "**different**", None: ""}
    rows = [(row.target, row.measured, row.verdict, equal[row.equal]) for row in reached]
    return table(("target", "measured", "", "checksums"), rows)


def missed(found: Results) -> str:
    """Why a target was missed, from the reasons written beside this file."""
    path = FOLDER / "missed.md"
    any_missed = any(row.met is False for row in targets_of(found))
    return path.read_text() if any_missed and path.exists() else ""


def summary_table(found: Results) -> str:
    """The main phases: all planners side by side."""
    head = ("step", "operators", *PLANNERS)
    rows = []
    for phase, shape in SUMMARY:
        for size in SIZES:
            cells = [cell(found, phase, shape, size, peer) for peer in PLANNERS]
            rows.append((f"{phase}, {shape.replace('_', ' ')}", f"{size:,}", *cells))
    return table(head, rows, numbers=1 + len(PLANNERS))


def cell(found: Results, phase: str, shape: str, size: int, peer: str) -> str:
    """A time, or why there is none."""
    row = found.find(phase, shape, size, peer)
    if row.get("died"):
        return "died"
    return targets.time(row["median"]) if row.get("median") else ""


def memory(found: Results) -> str:
    """Bytes per operator and per edge, of layered DAGs of two sizes and of one with more edges.

    From differences only: a process has some memory to spare before it begins.
    """
    size = max((key[2] for key in found.rows if key[1] == "layered_dag, 4 inputs"), default=0)
    sizes = sorted(
        key[2] for key, row in found.rows.items() if key[:2] == ("build", "layered_dag") and row.get("nodes")
    )
    rows = []
    for step in ("build", "job graph", "execution graph"):
        few, large = (found.find(step, "layered_dag", at) for at in (size, sizes[-1] if sizes else 0))
        many = found.find(step, "layered_dag, 4 inputs", size)
        if few and many and large.get("nodes", 0) > size:
            edge = slope(few, many, "edges")
            node = slope(few, large, "nodes") - edge * large["edges"] / large["nodes"]
            rows.append((step, f"{node:,.0f}", f"{edge:,.0f}"))
    told = (
        f"By how much the peak memory of a process grows from {size:,} to {sizes[-1] if sizes else 0:,} operators of a "
        f"layered DAG with two edges each, up to and with each step; what an edge takes is the difference to {size:,} "
        "operators with four edges each, the rest is what an operator takes with its vertex and its names."
    )
    return f"{told}\n\n{table(('up to', 'bytes per operator', 'bytes per edge'), rows, numbers=2)}"


def slope(less: Mapping[str, Any], more: Mapping[str, Any], what: str) -> float:
    """Bytes per node or edge between two measurements."""
    return (more["peak_bytes"] - less["peak_bytes"]) / (more[what] - less[what])


def every_figure(found: Results) -> str:
    """Phase by phase: shapes and sizes down, planners across."""
    timed = [key for key, row in found.rows.items() if {"median", "died"} & row.keys()]
    return "\n".join(phase_table(found, phase, timed) for phase in dict.fromkeys(key[0] for key in timed))


def phase_table(found: Results, phase: str, timed: Iterable[store.Key]) -> str:
    """One phase under its name."""
    keys = [key for key in timed if key[0] == phase]
    peers = [peer for peer in PEERS if any(key[3] == peer for key in keys)]
    rows = []
    for shape, size in sorted({key[1:3] for key in keys}):
        rows.append((shape, f"{size:,}", *(cell(found, phase, shape, size, peer) for peer in peers)))
    return f"### {phase}\n\n{table(('shape', 'size', *peers), rows, numbers=1 + len(peers))}\n"


def run(found: Results) -> str:
    """Which steps ran, and how they ended."""
    rows = [(name, step["started"], f"{step['seconds']:,.0f} s", step["ended"]) for name, step in found.steps.items()]
    died = [
        f"- {peer}, {phase}, {shape} of {size:,}: {row['died']}"
        for (phase, shape, size, peer), row in sorted(found.rows.items()) if row.get("died")
    ]  # fmt: skip
    told = "\n\nWhat a peer could not do:\n\n" + "\n".join(died) if died else ""
    return table(("step", "started", "took", "ended"), rows) + told


if __name__ == "__main__":
    sys.exit(main())
