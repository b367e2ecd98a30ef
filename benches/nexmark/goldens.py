"""Flink's results on small sets, and whether those of another system are the same, line by line."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import systems
from inputs import FORMATS, EventSet, csv_sha256
from sums import BY_CLOCK

FOLDER = Path(__file__).with_name("goldens")


def read(path: Path) -> dict[str, Any]:
    """A golden file, compressed or not."""
    data = path.read_bytes()
    return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)


def golden_of(events: EventSet) -> dict[str, Any]:
    """What is kept of a set."""
    return read(FOLDER / f"{events}.json")


def digest(query: str, lines: Iterable[str]) -> tuple[int, str]:
    """Number and hash of the lines of a query, sorted; by the clock, those of all windows of a bidder together."""
    if query in BY_CLOCK:
        bids: Counter[str] = Counter()
        for line in lines:
            bidder, count, _ = line.split("|", 2)
            bids[bidder] += int(count)
        lines = [f"{bidder}|{count}" for bidder, count in bids.items()]
    lines = sorted(lines)
    return len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest()


def make(events: EventSet, queries: Sequence[str]) -> Path:
    """Write the golden file of a set, with Flink."""
    folder = events.folder(FORMATS)
    results = {}
    for query, lines in systems.lines("flink", queries, "csv", folder).items():
        rows, sha256 = digest(query, lines)
        checksum = systems.rounds("flink", query, "csv", events, 1)[0].checksum
        results[query] = {"rows": rows, "checksum": checksum, "sha256": sha256}
    facts = {"set": str(events), "csv_sha256": csv_sha256(folder), "flink": "2.3.0"}
    head = json.dumps(facts)[:-1]
    body = ",\n".join(f'  "{query}": {json.dumps(result)}' for query, result in results.items())
    path = FOLDER / f"{events}.json"
    path.write_text(f'{head}, "queries": {{\n{body}\n}}}}\n')
    return path


def differences(golden: dict[str, Any], results: dict[str, list[str]]) -> Iterator[str]:
    """The queries whose lines are not Flink's, with what is known of it."""
    for query, lines in results.items():
        rows, sha256 = digest(query, lines)
        expected = golden["queries"][query]
        if sha256 != expected["sha256"]:
            yield f"{query}: {rows} lines, {sha256[:8]}; Flink has {expected['rows']}, {expected['sha256'][:8]}"


def beside_flink(query: str, format: str, folder: Path, lines: list[str], most: int = 5) -> Iterator[str]:
    """Some lines that only one of the two has."""
    expected = Counter(systems.lines("flink", [query], format, folder)[query])
    found_here = Counter(lines)
    for who, more, less in (("only Flink", expected, found_here), ("only here", found_here, expected)):
        yield from (f"  {who}: {line}" for line in sorted(more - less)[:most])
