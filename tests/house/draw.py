"""Draws the house from its imports: ``python -m tests.house.draw`` writes ``docs/house.svg`` anew, with Graphviz."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.house.imports import ROOT, between_rooms, imports

PICTURE = Path(__file__).parents[2] / "docs" / "house.svg"

WITH_ROOMS = ("datastream", "job", "runtime")
"""Parts whose rooms are shown; of the last two also the files, of the first one file: the others stand where PyFlink's
users look."""
_NO_ROOMS = ("__main__", "_moved")
"""What only opens a door: of ``python -m penstock`` to the command line, of modules that are gone to the new ones."""

SAYS = {
    "cli": "the user at a terminal",
    "testing": "harnesses for users' tests",
    "pytest_plugin": "fixtures",
    "savepoints": "savepoints as data",
    "flink": "savepoints of real Flink",
    "pyflink": "PyFlink's names",
    "spark": "tasks as a Spark job",
    "local": "tasks in this process",
    "plan": "the planner's graphs",
    "analysis": "plans for people",
    "compare": "what an edit does",
    "lock": "IDs that stay",
    "compiler": "functions as native programs",
    "lint": "what is wrong with programs",
    "viewer": "plans as pages",
    "connectors": "files, Kafka, databases, Spark",
    "storage": "local files, object stores",
    "common": "types, rows, tags, settings",
    "metrics": "what is counted",
    "display": "terminals, notebooks",
    "errors": "every exception",
    "_native": "the Rust crates",
    "datastream.environment": "where programs begin",
    "datastream.streams": "what a user calls",
    "datastream.program": "transformations, translation",
    "datastream.functions": "bases of user functions",
    "datastream.connectors": "what is read and written",
    "job.run": "the frame of a run",
    "job.temporary": "folders of one run",
    "job.steps": "the loop, what is seen of it",
    "job.rows": "what tasks send the driver",
    "job.deployment": "a plan as tasks in levels",
    "job.vertices": "a vertex as descriptors",
    "job.locations": "local paths, several hosts",
    "job.pickled_code": "user code as bytes",
    "job.shipped_files": "files in one archive",
    "job.commit": "publication, leftovers",
    "job.folder": "steps, owners, clean-up",
    "job.savepoint": "folders to begin from",
    "job.restore": "state for changed programs",
    "runtime.task": "rows in, rows out",
    "runtime.operators": "one family per file",
    "runtime.checkpoint": "state in files, step by step",
    "runtime.io": "files, texts, sources, sinks",
    "runtime.chain": "contract, outputs, fusion",
    "runtime.windows": "assigners, triggers, evictors",
    "runtime.exchange": "gate, writers, selectors",
    "runtime.state": "keyed, handles, timers",
    "runtime.keys": "Java hash, key groups",
    "runtime.buffers": "codec, columns, spill",
    "runtime.columns": "records as Arrow columns",
    "runtime.usercode": "binding, failures, steps",
    "runtime.config": "descriptors, pointwise",
    "runtime.aggregators": "sums and extremes",
    "runtime.native": "the door to Rust",
    "runtime.constants": "plain data as constants of programs",
}
"""What lives in a room, in a few words."""


def arrows() -> set[tuple[str, str]]:
    """Who imports whom: parts of the package, and rooms within those that show them; without what follows."""
    shown = rooms()
    result = reduced({pair for pair in between_rooms("penstock") if not {*_NO_ROOMS} & {*pair}})
    for part in WITH_ROOMS:
        pairs = {(f"{part}.{room}", f"{part}.{other}") for room, other in between_rooms(f"penstock.{part}")}
        result |= reduced({pair for pair in pairs if shown.issuperset(pair)})
    return result


def reduced(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs that do not follow from others."""
    below: dict[str, set[str]] = {}
    for room, other in pairs:
        below.setdefault(room, set()).add(other)

    def under(room: str) -> set[str]:
        return below.get(room, set()).union(*(under(other) for other in below.get(room, ())))

    return {(room, other) for room, other in pairs if not any(other in under(needed) for needed in below[room])}


def rooms() -> set[str]:
    """All boxes: rooms by part and name, and parts that show none."""
    names = set()
    for module in imports():
        _, *inside = module.split(".")
        if inside and inside[0] in _NO_ROOMS:
            continue
        if inside and inside[0] not in WITH_ROOMS:
            names.add(inside[0])
        elif len(inside) > 1:
            room = ".".join(inside[:2])
            if inside[0] != "datastream" or ROOT.joinpath(*inside[:2]).is_dir() or room == "datastream.functions":
                names.add(room)
    return names


def dot() -> Iterator[str]:
    yield 'digraph house { compound=true; ranksep=0.32; nodesep=0.2; fontname="Helvetica"; fontsize=13; bgcolor=white;'
    yield 'node [shape=box, style="rounded,filled", fillcolor=white, color="#7a8794", fontname="Helvetica"];'
    yield "node [fontsize=11];"
    yield 'edge [color="#52606d", arrowsize=0.6];'
    for part in WITH_ROOMS:
        yield f'subgraph "cluster_{part}" {{ label="{part}"; style="rounded,filled";'
        yield 'color="#7a8794"; fillcolor="#eef3f7";'
        yield from (_box(room) for room in sorted(rooms()) if room.startswith(f"{part}."))
        yield "}"
    yield from (_box(room) for room in sorted(rooms()) if "." not in room)
    yield from (_arrow(*pair) for pair in sorted(arrows()))
    yield "}"


def _box(room: str) -> str:
    name = room.rpartition(".")[2]
    return f'"{room}" [label=<<b>{name}</b><br/><font point-size="9" color="#52606d">{SAYS[room]}</font>>];'


def _arrow(room: str, other: str) -> str:
    """Between two boxes; one of a whole part starts at its lowest room and ends at its highest."""
    attributes = [f'tooltip="{room} imports {other}"']
    attributes += [f'ltail="cluster_{room}"'] * (room in WITH_ROOMS)
    attributes += [f'lhead="cluster_{other}"'] * (other in WITH_ROOMS)
    return f'"{_lowest(room)}" -> "{_highest(other)}" [{", ".join(attributes)}];'


def _highest(part: str) -> str:
    inner = {pair for pair in arrows() if pair[0].startswith(f"{part}.")}
    return min({room for room, _ in inner} - {other for _, other in inner}, default=part)


def _lowest(part: str) -> str:
    inner = {pair for pair in arrows() if pair[0].startswith(f"{part}.")}
    return min({other for _, other in inner} - {room for room, _ in inner}, default=part)


if __name__ == "__main__":
    drawn = subprocess.run(["dot", "-Tsvg"], input="\n".join(dot()), capture_output=True, text=True, check=True)
    PICTURE.write_text(drawn.stdout)
