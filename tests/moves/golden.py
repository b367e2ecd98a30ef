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

KINDS = (
    ("2.3.0", "canonical"),
    ("2.3.0", "native"),
    ("2.3.0", "rocksdb"),
    ("1.11.4", "canonical"),
    ("1.11.4", "rocksdb"),
)
"""The kinds of savepoints of each version."""

LINES = "moves.jsonl.gz"


@cache
def lines() -> tuple[dict[str, Any], ...]:
    """A line for each program, version and kind of savepoint."""
    with gzip.open(FOLDER / LINES, "rt", encoding="utf-8") as file:
        return tuple(map(json.loads, file))


def archive(release: str, kind: str) -> Path:
    """The archive with the savepoints of a version and kind."""
    return FOLDER / f"{release}-{kind}.tar.xz"


@cache
def _unpacked(packed: Path) -> Path:
    place = Path(tempfile.mkdtemp(prefix="moves-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    with tarfile.open(packed) as file:
        file.extractall(place, filter="data")
    return place


def savepoint(line: dict[str, Any]) -> str:
    """The folder of the savepoint that belongs to a line."""
    return str(_unpacked(archive(line["flink"], line["kind"])) / line["name"])


def kafka_savepoint(release: str) -> str:
    """The folder of the savepoint of the job that reads Kafka."""
    return str(_unpacked(FOLDER / f"kafka-{release}.tar.xz") / "kafka_sums")
