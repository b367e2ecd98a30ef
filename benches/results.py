"""The figures of a run: written down line by line while it runs, kept as one compact file, asked for by name."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RAW = ROOT / "target" / "bench"
FOLDER = ROOT / "benches" / "report"
FILE = FOLDER / "results.json"
KEY = ("phase", "shape", "size", "peer")

Key = tuple[str, str, int, str]


@dataclass(frozen=True)
class Results:
    """A run.

    Attributes:
        machine: what it ran on, and the versions of everything.
        steps: by name of a step when it started, how long it took, how it ended.
        rows: by (phase, shape, size, peer) what was found: ``median`` seconds of ``rounds``, ``wall_median``,
            ``peak_bytes``, ``checksum_equal``, or why a peer ``died``.
    """

    machine: Mapping[str, str]
    steps: Mapping[str, Mapping[str, Any]]
    rows: Mapping[Key, Mapping[str, Any]]

    def find(self, phase: str, shape: str, size: int, peer: str = "Penstock") -> Mapping[str, Any]:
        """One row; empty when it was not measured."""
        return self.rows.get((phase, shape, size, peer), {})

    def seconds(self, phase: str, shape: str, size: int, peer: str = "Penstock") -> float | None:
        """The median, ``None`` when there is none."""
        return self.find(phase, shape, size, peer).get("median")

    def sizes(self, phase: str, shape: str, peer: str, fact: str = "median") -> list[tuple[int, float]]:
        """Size and a fact, ascending, where it was measured and is not too small to be seen."""
        rows = [(key[2], row.get(fact)) for key, row in self.rows.items() if (*key[:2], key[3]) == (phase, shape, peer)]
        return sorted((size, value) for size, value in rows if value)


def gather(lines: Iterable[Mapping[str, Any]]) -> dict[Key, dict[str, Any]]:
    """Rows of what was written down; several lines about one thing add up, times by their median.

    Where a peer tells its CPU time, that is what counts: other threads, of a garbage collector say, and a busy machine
    only add to its wall time, which is kept beside it.
    """
    rows: dict[Key, dict[str, Any]] = {}
    for line in lines:
        facts = {name: value for name, value in line.items() if value is not None}
        row = rows.setdefault(tuple(facts.pop(name) for name in KEY), {})  # type: ignore[arg-type]
        wall, cpu = facts.pop("seconds", None), facts.pop("cpu_seconds", None)
        if wall:
            facts["rounds"] = len(wall)
            facts["median"] = short(statistics.median(cpu or wall))
        if wall and cpu:
            facts["wall_median"] = short(statistics.median(wall))
        row.update(facts)
    return rows


def short(number: float) -> float:
    """Three digits are more than a measurement is worth."""
    return float(f"{number:.3g}")


def updated(before: Results, found: Results) -> Results:
    """A run with what is known of the steps and rows that it did not measure, on another checkout, say."""
    steps = {**before.steps, **found.steps}
    return Results(found.machine, steps, {**before.rows, **found.rows})


def read_raw(folder: Path = RAW) -> dict[Key, dict[str, Any]]:
    """The rows of all steps that have run."""
    lines = [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
    return gather(lines)


def save(results: Results, path: Path = FILE) -> None:
    """One line per row, so that differences between two runs can be read."""
    rows = [json.dumps({**dict(zip(KEY, key, strict=True)), **row}) for key, row in sorted(results.rows.items())]
    head = json.dumps({"machine": results.machine, "steps": results.steps}, indent=1)[:-2]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + ',\n "rows": [\n  ' + ",\n  ".join(rows) + "\n ]\n}\n")


def load(path: Path = FILE) -> Results:
    """What :func:`save` wrote."""
    data = json.loads(path.read_text())
    rows = {tuple(row.pop(name) for name in KEY): row for row in data["rows"]}
    return Results(data["machine"], data["steps"], rows)
