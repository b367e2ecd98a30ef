"""What a step costs Spark's driver with up to a thousand subtasks, and a manifest of ten thousand."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import manifests
import scale
from conftest import Measure, Record
from penstock.job.folder.manifest import decoded, encoded
from results import short

TINY = (2,)
STEPS = 7


@pytest.fixture(scope="module")
def session(tiny: bool):
    """Spark with many executors; in smoke mode that which is there."""
    return scale.session("local[2]" if tiny else scale.cluster())


def test_scale(session, tmp_path: Path, record: Record, tiny: bool) -> None:
    for parallelism in TINY if tiny else scale.SUBTASKS:
        count = scale.WARM + 2 if tiny else STEPS
        began = time.monotonic()
        for shape, costs in {
            scale.SUM: scale.summed(session, tmp_path, parallelism, count),
            scale.BARE: scale.bare(session, parallelism, count),
        }.items():
            for kind in (scale.JVM, scale.PYTHON, scale.WALL):
                seconds = [short(getattr(cost, kind)) for cost in costs]
                record(phase=scale.SCALE, shape=shape, size=parallelism, peer=kind, seconds=seconds)
                print(f"{parallelism:,} subtasks, {shape}, {kind}: {statistics.median(seconds) * 1000:.0f} ms")
        print(f"{time.monotonic() - began:.0f} s")


@pytest.mark.parametrize("direction", ["write", "read"])
@pytest.mark.parametrize("peer", ["Penstock", "json"])
def test_manifest(measure: Measure, tiny: bool, direction: str, peer: str) -> None:
    """A manifest, and beside it the document in it by ``json`` alone."""
    count = 10 if tiny else 10_000
    manifest = manifests.of_subtasks(count)
    text = encoded(manifest)
    body = text.split(b"\n")[1]
    document = json.loads(body)
    works: dict[tuple[str, str], tuple[Callable[[Any], Any], Any, Any]] = {
        ("Penstock", "write"): (encoded, manifest, text),
        ("Penstock", "read"): (lambda text: decoded(text, manifest.version, "here"), text, manifest),
        ("json", "write"): (lambda document: json.dumps(document, separators=(",", ":")).encode(), document, body),
        ("json", "read"): (json.loads, body, document),
    }
    work, argument, expected = works[peer, direction]
    assert measure(work, lambda: argument, phase="manifest", shape=direction, size=count, peer=peer) == expected
