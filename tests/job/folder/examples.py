"""A manifest with something of everything, and steps of a job that counts."""

from __future__ import annotations

from typing import Any

from penstock.job.folder.lease import Lease
from penstock.job.folder.manifest import OperatorState, Output, SourceState, StepManifest, TaskState
from penstock.job.folder.read_splits import EndedFile, EndedSplits
from penstock.runtime.config.tasks import StateFile
from penstock.storage.stores import storage_of

SUM, SOURCE = "5" * 32, "ab" * 16


def everything(**other: Any) -> StepManifest:
    """A manifest with all kinds of entries."""
    snapshot = StateFile(SUM, f"{SUM}-0-4-0123abcd", "snapshot", 1_000_000, "c0ffee", 100)
    log = StateFile(SUM, f"{SUM}-0-5-0123abcd", "log", 234_567, "f00d", 7)
    ended = EndedSplits((EndedFile("ended-" + "0" * 32, 500, "a1"),), ("file é", 'with "quotes"\n'))
    entries: dict[str, Any] = {
        "version": 6,
        "job": "Zählung",
        "job_id": "1" * 32,
        "time": 1_795_359_660_000,
        "epoch": 3,
        "retained": (2, 5),
        "parallelism": 2,
        "plan": "d16e57",
        "operators": {SUM: OperatorState("sum", "my-uid", 2, 128, ((snapshot, log), ()))},
        "sources": {
            SOURCE: SourceState({"part-0": [1, "two", None], "part-1": (3, 4)}, ended),
            "c" * 32: SourceState(),
        },
        "tasks": {"Source -> sum": (TaskState(b"\x00\xff", True), TaskState())},
        "outputs": (Output("/out/.pending-1/a", "/out/part-0-0", False), Output("/p", "/q", True, True)),
        "counters": {SUM: ({"in": 5, "out": 2}, {})},
    }
    return StepManifest(**{**entries, **other})


def step(lease: Lease, number: int, *, keep: int = 0) -> StepManifest:
    """Write a state file, and commit a step that names it."""
    newest = lease.newest()
    old = newest.operators[SUM].subtasks[0] if newest is not None and newest.operators else ()
    file = StateFile(SUM, f"{SUM}-0-{lease.version + 1}-{number:08x}", "log", 5, "", 1)
    storage_of(lease.place).put(f"{lease.state}/{file.name}", b"state")
    operators = {SUM: OperatorState("sum", None, 1, 128, ((*old[len(old) - keep :], file),))}
    sources = {SOURCE: SourceState({"numbers": number})}
    return lease.commit(
        StepManifest(lease.version + 1, "count", "2" * 32, 1_795_359_660_000, operators=operators, sources=sources)
    )


def reached(manifest: StepManifest | None) -> int:
    return manifest.sources[SOURCE].positions["numbers"] if manifest is not None and manifest.sources else 0
