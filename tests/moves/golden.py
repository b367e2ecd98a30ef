"""What programs put out in the real Flink, and the savepoints that they left when they were stopped half-way."""

from __future__ import annotations

import atexit
import gzip
import json
import shutil
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "golden" / "moves"
RELEASES = {"2.3.0": "2.3", "1.11.4": "1.11"}
"""The versions of Flink, with the profile of ``benches/flink`` for each."""

LINES = "moves.jsonl.gz"


@cache
def lines() -> tuple[dict[str, Any], ...]:
    """A line for each program and version."""
    with gzip.open(FOLDER / LINES, "rt", encoding="utf-8") as file:
        return tuple(map(json.loads, file))


@cache
def _unpacked(release: str) -> Path:
    place = Path(tempfile.mkdtemp(prefix="moves-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    with tarfile.open(FOLDER / f"{release}.tar.xz") as archive:
        archive.extractall(place, filter="data")
    return place


def savepoint(line: dict[str, Any]) -> str:
    """The folder of the savepoint that belongs to a line."""
    return str(_unpacked(line["flink"]) / line["name"])
