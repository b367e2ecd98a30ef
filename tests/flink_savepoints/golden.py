"""The golden savepoints: unpacked once per process, and what Flink said of them."""

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

FOLDER = Path(__file__).parents[1] / "golden" / "flink_savepoints"
RELEASES = {"1.11.4": "1.11", "2.3.0": "2.3"}


WRITTEN = "written"
"""The savepoints that ``benches/flink`` writes, which have states and types that those of jobs do not have."""


@cache
def unpacked() -> Path:
    """A folder with a folder for each release, and one for the written ones; in these one for each savepoint."""
    place = Path(tempfile.mkdtemp(prefix="flink-savepoints-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    for release in (*RELEASES, WRITTEN):
        with tarfile.open(FOLDER / f"{release}.tar.xz") as archive:
            archive.extractall(place / release, filter="data")
    return place


def _lines(name: str) -> tuple[dict[str, Any], ...]:
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return tuple(map(json.loads, lines))


@cache
def savepoints() -> tuple[dict[str, Any], ...]:
    """Programs, and what Flink read in their savepoints."""
    lines = _lines("savepoints")
    assert len(lines) == 177
    return lines


@cache
def pairs() -> tuple[dict[str, Any], ...]:
    lines = _lines("pairs")
    assert len(lines) == 1253
    return lines


@cache
def odd() -> tuple[dict[str, Any], ...]:
    """Broken files and places, and what Flink said."""
    lines = _lines("odd")
    assert len(lines) == 60
    return lines


@cache
def entries() -> tuple[dict[str, Any], ...]:
    """The entries that Flink's own backends find in each savepoint, or the error where they cannot restore it."""
    lines = _lines("entries")
    assert len(lines) == 177
    return lines


@cache
def samples() -> tuple[dict[str, Any], ...]:
    """Serializers with their snapshots, and values with their bytes."""
    lines = _lines("samples")
    assert len(lines) == 128
    return lines


@cache
def timers() -> dict[str, Any]:
    """Key groups of raw keyed state with timers, and these timers."""
    (line,) = _lines("timers")
    return line


@cache
def by_name() -> dict[tuple[str, str], dict[str, Any]]:
    """The lines of :func:`savepoints` by release and name."""
    return {(line["flink"], line["name"]): line for line in savepoints()}


def place(release: str, name: str) -> str:
    """The path of the metadata of a savepoint."""
    if release == WRITTEN:
        return str(unpacked() / release / name / "_metadata")
    line = by_name()[release, name]
    return str(unpacked() / release / line.get("from", name) / line["metadata"])


def spec(release: str, name: str) -> dict[str, Any]:
    return by_name()[release, name]["program"]["spec"]
