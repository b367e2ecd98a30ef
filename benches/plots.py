"""The plots of the report, all with logarithmic axes: a straight line of slope one is linear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from results import Results

COLOURS = {
    "Penstock": "#c1121f",
    "Flink 1.11.4": "#003049",
    "Flink 2.3.0": "#669bbc",
    "Python": "#f4a261",
    "rustworkx": "#6a994e",
    "networkx": "#a7c957",
    "Rust": "#7f5539",
    "NumPy": "#6a994e",
    "memcpy": "#7f5539",
}
Line = tuple[str, str, str, str]  # label, phase, shape, peer


def draw(results: Results, folder: Path) -> None:
    """All plots, as PNG."""
    planners = ("Penstock", "Flink 1.11.4", "Flink 2.3.0", "Python")
    libraries = ("rustworkx", "networkx")
    sort = [(f"{peer}: topological sort only", "topological sort", "layered_dag", peer) for peer in libraries]
    floor = [("Rust: bare traversal only", "bare traversal", "layered_dag", "Rust")]
    panels = {
        "operator IDs, layered DAG": [*lines("hash", "layered_dag", planners), *sort, *floor],
        "operator IDs, a uid on every operator": lines("hash", "uid_table", planners),
        "JobGraph, layered DAG": [*lines("job graph", "layered_dag", planners), *sort],
        "ExecutionGraph, layered DAG": lines("execution graph", "layered_dag", planners),
    }
    save(results, panels, "operators", "seconds", "median", folder / "time.png")
    steps = ("build", "job graph", "execution graph")
    up_to = {"layered DAG, peak up to and with": [(step, step, "layered_dag", "Penstock") for step in steps]}
    save(results, up_to, "operators", "bytes", "peak_bytes", folder / "memory.png")
    edges = lines("execution edges", "all_to_all", ("Penstock", "NumPy", "memcpy"))
    grouped = ("Penstock: as groups", "execution graph", "all_to_all", "Penstock")
    connect = [(f"{peer}: connect", "connect", "all_to_all", peer) for peer in planners[1:3]]
    panel = {"all-to-all exchange, as edges": [*edges, *connect, grouped]}
    save(results, panel, "parallelism on both sides", "seconds", "median", folder / "exchanges.png")
    names = sorted({shape for phase, shape, _, peer in results.rows if (phase, peer) == ("hash", "Penstock")})
    shapes = {
        title: [(name.replace("_", " "), phase, name, "Penstock") for name in names]
        for title, phase in (("operator IDs, Penstock", "hash"), ("JobGraph, Penstock", "job graph"))
    }
    save(results, shapes, "operators", "seconds", "median", folder / "shapes.png")


def lines(phase: str, shape: str, peers: tuple[str, ...]) -> list[Line]:
    """One line per peer."""
    return [(peer, phase, shape, peer) for peer in peers]


def save(results: Results, panels: dict[str, list[Line]], x: str, y: str, fact: str, path: Path) -> None:
    """Panels beside each other, two in a row."""
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(5.4 * across, 3.6 * down), layout="constrained")
    for place, (title, wanted) in enumerate(panels.items(), 1):
        axis = figure.add_subplot(down, across, place)
        panel(axis, results, wanted, fact)
        axis.set(title=title, xlabel=x, ylabel=y)
    figure.savefig(path, dpi=90, metadata={"Software": None})


def panel(axis: Any, results: Results, wanted: list[Line], fact: str) -> None:
    """The lines that were measured."""
    alone = len({peer for *_, peer in wanted}) == 1
    for label, phase, shape, peer in wanted:
        points = results.sizes(phase, shape, peer, fact)
        if points:
            colour = None if alone else COLOURS[peer]
            style = "--" if ":" in label else "-"
            axis.plot(*zip(*points, strict=True), style, marker="o", markersize=3, label=label, color=colour)
    axis.grid(alpha=0.3)
    if axis.lines:
        axis.set(xscale="log", yscale="log")
        axis.legend(fontsize=7)
