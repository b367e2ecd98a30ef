"""The tables of the report, in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

import costs
import endless
import speed
import targets
from results import Key, Results, Row, Run
from steps import peers

PLANNERS = ("Penstock", *targets.FLINKS, "Python")
PEERS = (*PLANNERS, targets.PROFILED, "rustworkx", "networkx", "Rust", "NumPy", "memcpy", *speed.PEERS)
PEERS = (*PEERS, *(peer for peer in endless.PEERS if peer not in PEERS))
SUMMARY = (  # phase, shape: the rows of the table of planners
    ("hash", "layered_dag"),
    ("hash", "uid_table"),
    ("job graph", "layered_dag"),
    ("job graph", "keyed_pipelines"),
    ("job graph", "forward_chain"),
    ("execution graph", "layered_dag"),
)
SIZES = (100_000, 1_000_000)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> str:
    """A Markdown table; the last ``numbers`` columns stand to the right."""
    rules = ["---"] * (len(head) - numbers) + ["---:"] * numbers
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rules, *rows))


def targets_of(results: Results) -> list[targets.Row]:
    """Of planning, of running, of what never ends, and of native code."""
    return [*targets.rows(results), *speed.rows(results), *endless.rows(results), *costs.rows(results)]


def target_table(reached: Iterable[targets.Row]) -> str:
    """Target, measured, met or missed, and in which run."""
    equal = {True: "equal", False: "**different**", None: ""}
    rows = [(row.target, row.measured, row.verdict, equal[row.equal], named(row.run)) for row in reached]
    return table(("target", "measured", "", "checksums", "run"), rows)


def named(started: str) -> str:
    """A run by the minute it started in."""
    return started.removesuffix(" UTC")


def list_of_runs(results: Results) -> str:
    """A line per run: when, of what, on which machine, and how fast that was."""
    return "\n".join(described(run) for run in results.runs)


def described(run: Run) -> str:
    """One run."""
    facts = dict(run.machine)
    processor, cores, memory_size, system = (
        facts.pop(name, "?") for name in ("processor", "cores", "memory", "system")
    )
    versions = ", ".join(f"{name} {version}" for name, version in facts.items())
    limit = f" up to {run.largest:,}" if run.largest else ""
    note = f" {run.note}" if run.note else ""
    return (
        f"- **{named(run.started)}**, commit {run.commit}: {', '.join(run.steps)}{limit}. {processor}, {cores} cores, "
        f"{memory_size} of memory, {system}; machine speed: {speed_of(run)}. {versions}.{note}"
    )


def speed_of(run: Run) -> str:
    """What the calibration loop took, over all steps."""
    return loop(second for step in run.steps.values() for second in step.get("calibration", ()))


def loop(seconds: Iterable[float]) -> str:
    """Times of the calibration loop: the median, and the range."""
    times = sorted(seconds)
    if not times:
        return "calibration loop not measured"
    middle, low, high = (f"{1000 * second:.3g}" for second in (statistics.median(times), times[0], times[-1]))
    return f"calibration loop {middle} ms" + (f" ({low} to {high} ms)" if low != high else "")


def planners(results: Results) -> speed.Table:
    """The main phases: Penstock beside both Flinks, where they were measured."""
    head = ("step", "operators", *PLANNERS[:-1])
    rows = []
    for phase, shape in SUMMARY:
        for size in SIZES:
            ours, *flinks = (cell(results, phase, shape, size, peer) for peer in PLANNERS[:-1])
            if any(flinks):
                rows.append((f"{phase}, {shape.replace('_', ' ')}", f"{size:,}", ours, *flinks))
    return head, rows


def run_of_planners(results: Results) -> str:
    """The run that the table of planners is from."""
    return f"Run of {results.shown[peers('planner')].started}."


def verdicts(results: Results) -> str:
    """How many targets were met, and those that were not."""
    reached = targets_of(results)
    missed = [(row.target, row.measured, named(row.run)) for row in reached if row.met is False]
    met = sum(row.verdict == "met" for row in reached)
    return f"Of {len(reached)} targets {met} were met. Missed:\n\n{table(('target', 'measured', 'run'), missed)}"


PLANNING: Mapping[str, Callable[[Results], speed.Table | str]] = {
    "planners": planners,
    "planners_run": run_of_planners,
    "targets": verdicts,
}
"""By the name that docs/performance.md calls them."""


def cell(results: Results, phase: str, shape: str, size: int, peer: str) -> str:
    """A time, or why there is none."""
    row = results.find(phase, shape, size, peer)
    if row.get("died"):
        return "died"
    return targets.time(row["median"]) if row.get("median") else ""


def memory(results: Results) -> str:
    """Bytes per operator and per edge, of layered DAGs of two sizes and of one with more edges.

    From differences only: a process has some memory to spare before it begins.
    """
    size = max((key[2] for key in results.rows if key[1] == "layered_dag, 4 inputs"), default=0)
    sizes = sorted(
        key[2] for key, row in results.rows.items() if key[:2] == ("build", "layered_dag") and row.get("nodes")
    )
    rows = []
    for step in ("build", "job graph", "execution graph"):
        few, large = (results.find(step, "layered_dag", at) for at in (size, sizes[-1] if sizes else 0))
        many = results.find(step, "layered_dag, 4 inputs", size)
        if few and many and large.get("nodes", 0) > size:
            edge = slope(few, many, "edges")
            node = slope(few, large, "nodes") - edge * large["edges"] / large["nodes"]
            rows.append((step, f"{node:,.0f}", f"{edge:,.0f}"))
    note = (
        f"By how much the peak memory of a process grows from {size:,} to {sizes[-1] if sizes else 0:,} operators of a "
        f"layered DAG with two edges each, up to and with each step; what an edge takes is the difference to {size:,} "
        "operators with four edges each, the rest is what an operator takes with its vertex and its names."
    )
    return f"{note}\n\n{table(('up to', 'bytes per operator', 'bytes per edge'), rows, numbers=2)}"


def slope(less: Row, more: Row, what: str) -> float:
    """Bytes per node or edge between two measurements."""
    return (more["peak_bytes"] - less["peak_bytes"]) / (more[what] - less[what])


def every_figure(results: Results) -> str:
    """Phase by phase: shapes and sizes down, planners across."""
    timed = [key for key, row in results.rows.items() if {"median", "died"} & row.keys()]
    return "\n".join(phase_table(results, phase, timed) for phase in dict.fromkeys(key[0] for key in timed))


def phase_table(results: Results, phase: str, timed: Iterable[Key]) -> str:
    """One phase under its name."""
    keys = [key for key in timed if key[0] == phase]
    peers = [peer for peer in PEERS if any(key[3] == peer for key in keys)]
    rows = []
    for shape, size in sorted({key[1:3] for key in keys}):
        rows.append((shape, f"{size:,}", *(cell(results, phase, shape, size, peer) for peer in peers)))
    return f"### {phase}\n\n{table(('shape', 'size', *peers), rows, numbers=1 + len(peers))}\n"


def newer(results: Results) -> str:
    """What was measured again without its peers, after the run that is shown."""
    note = "Later runs that lack a peer, or have smaller sizes only. Nothing here is divided by what stands above."
    parts = [
        part for run in results.runs for group, shown in results.shown.items() if (part := again(run, group, shown))
    ]
    return "\n\n".join(["## Measured again without peers", note, *parts]) if parts else ""


def again(run: Run, group: Iterable[str], shown: Run) -> str:
    """What a run after the one that is shown has of some peers."""
    rows = [
        (phase, shape, peer, f"{size:,}", targets.time(row["median"]))
        for (phase, shape, size, peer), row in sorted(run.of(group).items())
        if row.get("median")
    ]
    if run.id <= shown.id or not rows:
        return ""
    note = f"{named(run.started)}, {speed_of(run)}; shown above: {named(shown.started)}, {speed_of(shown)}."
    return f"{note}\n\n{table(('phase', 'shape', 'who', 'size', 'time'), rows, numbers=2)}"


def steps_of(results: Results) -> str:
    """Which steps ran, and how they ended."""
    rows = [
        (
            named(run.started),
            name,
            facts["started"],
            f"{facts['seconds']:,.0f} s",
            facts["ended"],
            loop(facts.get("calibration", ())),
        )
        for run in results.runs
        for name, facts in run.steps.items()
    ]
    died = [
        f"- {peer}, {phase}, {shape} of {size:,}: {row['died']}"
        for (phase, shape, size, peer), row in results.rows.items() if row.get("died")
    ]  # fmt: skip
    note = "\n\nWhat a peer could not do:\n\n" + "\n".join(died) if died else ""
    return table(("run", "step", "started", "took", "ended", "machine speed"), rows) + note
