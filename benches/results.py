"""The figures of runs: written down line by line while one runs, kept as one compact file, asked for by name.

A run is one call of ``make bench``: one machine, one commit. Figures of two runs are never divided by each other.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from steps import peers

ROOT = Path(__file__).resolve().parent.parent
RAW = ROOT / "target" / "bench"
FOLDER = ROOT / "benches" / "report"
FILE = FOLDER / "results.json"
KEY = ("phase", "shape", "size", "peer")

Key = tuple[str, str, int, str]
Row = Mapping[str, Any]


class Figures:
    """Rows that may stand beside each other.

    Attributes:
        rows: by (phase, shape, size, peer) what was found: ``median`` seconds of ``rounds``, ``each`` of them,
            ``wall_median``, ``peak_bytes``, ``checksum_equal``, or why a peer ``died``; ``step`` which wrote it.
    """

    rows: Mapping[Key, Row]

    def find(self, phase: str, shape: str, size: int, peer: str = "Penstock") -> Row:
        """One row; empty when it was not measured."""
        return self.rows.get((phase, shape, size, peer), {})

    def seconds(self, phase: str, shape: str, size: int, peer: str = "Penstock") -> float | None:
        """The median, ``None`` when there is none."""
        return self.find(phase, shape, size, peer).get("median")

    def sizes(self, phase: str, shape: str, peer: str, fact: str = "median") -> list[tuple[int, float]]:
        """Size and a fact, ascending, where it was measured and is not too small to be seen."""
        rows = [(key[2], row.get(fact)) for key, row in self.rows.items() if (*key[:2], key[3]) == (phase, shape, peer)]
        return sorted((size, value) for size, value in rows if value)


@dataclass(frozen=True)
class Run(Figures):
    """One call of ``make bench``.

    Attributes:
        id: begins with when it started, so that ids sort by time.
        started: date and minute, UTC.
        commit: of the checkout, with a ``+`` where that had changes.
        machine: what it ran on, and the versions of everything.
        steps: by name of a step when it started, how long it took, how it ended, and the seconds of the
            ``calibration`` loop before and after it.
        largest: the largest size that it was allowed, if that was limited.
        note: what else a reader must know.
        rows: see :class:`Figures`.
    """

    id: str = ""
    started: str = ""
    commit: str = ""
    machine: Mapping[str, str] = field(default_factory=dict)
    steps: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    largest: int | None = None
    note: str = ""
    rows: Mapping[Key, Row] = field(default_factory=dict)

    def whole(self, group: Iterable[str]) -> bool:
        """Whether it measured all of some peers, and nothing was left out for its size."""
        return self.largest is None and set(group) <= self.steps.keys()

    def of(self, group: Iterable[str]) -> dict[Key, Row]:
        """The rows of some steps."""
        return {key: row for key, row in self.rows.items() if row["step"] in group}

    def has(self, key: Key, fact: str = "median") -> bool:
        """Whether it measured something, or found that it cannot be measured."""
        return not {fact, "died"}.isdisjoint(self.find(*key))


@dataclass(frozen=True)
class Results(Figures):
    """What is known: runs, oldest first. As :class:`Figures` it has, of steps that are peers, the rows of one run: of
    the last that measured all of them, or else of the last that measured any."""

    runs: tuple[Run, ...] = ()

    @cached_property
    def shown(self) -> dict[tuple[str, ...], Run]:
        """By group of peers the run that its rows are of."""
        groups = {peers(row["step"]) for run in self.runs for row in run.rows.values()}
        newest = {}
        for group in sorted(groups):
            any_of_it = [run for run in self.runs if run.of(group)]
            newest[group] = ([run for run in any_of_it if run.whole(group)] or any_of_it)[-1]
        return newest

    @cached_property
    def rows(self) -> Mapping[Key, Row]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Of the runs that are shown."""
        merged = {key: row for group, run in self.shown.items() for key, row in run.of(group).items()}
        return dict(sorted(merged.items()))

    def together(self, *keys: Key, beside: Iterable[Key] = (), fact: str = "median") -> Run:
        """The last run that measured all of some things, so that they can be divided; one without rows when none did.

        Args:
            keys: what is needed.
            beside: what is shown beside it: left out where no run has measured it with the rest.
            fact: of the rows, that is needed.
        """
        known = [key for key in beside if self.apart(key)]
        for wanted in ((*keys, *known), keys):
            runs = [run for run in self.runs if all(run.has(key, fact) for key in wanted)]
            if runs:
                return runs[-1]
        return Run()

    def apart(self, *keys: Key) -> bool:
        """Whether each of some things was measured, though maybe not in one run."""
        return all(any(run.has(key) for run in self.runs) for key in keys)


def ratio(above: Row, below: Row) -> float:
    """Times of one row over those of another: the median over all pairs of rounds, where the rounds are known."""
    rounds = (row.get("each", [row["median"]]) for row in (above, below))
    longer, shorter = rounds
    return statistics.median(one / other for one in longer for other in shorter)


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
        if len(wall or ()) > 1:
            facts["each"] = [short(second) for second in cpu or wall]
        if wall and cpu:
            facts["wall_median"] = short(statistics.median(wall))
        row.update(facts)
    return rows


def short(number: float) -> float:
    """Three digits are more than a measurement is worth."""
    return float(f"{number:.3g}")


def merged(runs: Iterable[Run]) -> Results:
    """Runs in their order, without what a newer one has measured again."""
    kept = {run.id: run for run in runs if run.rows}
    ordered = [kept[name] for name in sorted(kept)]
    return Results(tuple(left for at, run in enumerate(ordered) if (left := _left(run, ordered[at + 1 :])).rows))


def _left(run: Run, newer: Iterable[Run]) -> Run:
    """A run without the peers that one newer run has all figures of."""
    rows: dict[Key, Row] = {}
    for group in {peers(row["step"]) for row in run.rows.values()}:
        known = _facts(run.of(group))
        if not any(known <= _facts(other.of(group)) for other in newer):
            rows |= run.of(group)
    return Run(**{**vars(run), "rows": rows})


def _facts(rows: Mapping[Key, Row]) -> set[tuple[Key, str]]:
    """What is known of which row; a death is as good as a time."""
    names = {"median": "time", "died": "time", "peak_bytes": "memory"}
    return {(key, names[name]) for key, row in rows.items() for name in row.keys() & names}


def read_raw(folder: Path = RAW) -> list[Run]:
    """What the runs of this checkout have left behind, also those that were interrupted."""
    return [_read_run(path) for path in sorted(folder.glob("*/run.json"))]


def _read_run(path: Path) -> Run:
    lines = [
        {**json.loads(line), "step": records.stem}
        for records in sorted(path.parent.glob("*.jsonl"))
        for line in records.read_text().splitlines()
    ]
    return Run(**json.loads(path.read_text()), rows=gather(lines))


def head(run: Run) -> dict[str, Any]:
    """A run without its rows, as it is stored; what it has nothing of is left out."""
    return {name: value for name, value in asdict(Run(**{**vars(run), "rows": {}})).items() if value}


def save(results: Results, path: Path = FILE) -> None:
    """One line per row, so that differences between two runs can be read."""
    lines = []
    for run in results.runs:
        for key, row in sorted(run.rows.items()):
            lines.append(json.dumps({**dict(zip(KEY, key, strict=True)), **row, "run": run.id}))
    runs = json.dumps({"runs": [head(run) for run in results.runs]}, indent=1)[:-2]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(runs + ',\n "rows": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n")


def load(path: Path = FILE) -> Results:
    """What :func:`save` wrote."""
    data = json.loads(path.read_text())
    rows: dict[str, dict[Key, Row]] = {}
    for row in data["rows"]:
        key = tuple(row.pop(name) for name in KEY)
        rows.setdefault(row.pop("run"), {})[key] = row  # type: ignore[index]
    return Results(tuple(Run(**run, rows=rows.get(run["id"], {})) for run in data["runs"]))
