"""A manifest of very many subtasks."""

from __future__ import annotations

import random

from penstock.job.folder.manifest import OperatorState, SourceState, StepManifest, TaskState
from penstock.runtime.config.tasks import StateFile

LOGS = 4
"""Logs behind the snapshot of a subtask."""


def of_subtasks(count: int) -> StepManifest:
    """A manifest of two operators with that many subtasks each, one with state: a snapshot and some logs."""
    chance, operator_id = random.Random(1), f"{1:032x}"

    def file(subtask: int, number: int) -> StateFile:
        name = f"{operator_id}-{subtask}-{number}-{chance.getrandbits(32):08x}"
        kind = "log" if number else "snapshot"
        return StateFile(operator_id, name, kind, 10_000 + number, f"{chance.getrandbits(128):032x}", 1_000)

    series = tuple(tuple(file(subtask, number) for number in range(1 + LOGS)) for subtask in range(count))
    return StepManifest(
        version=LOGS + 1,
        job="sums",
        job_id=f"{2:032x}",
        time=1_700_000_000_000,
        parallelism=count,
        operators={operator_id: OperatorState("sums", "sums", count, 32_768, series)},
        sources={f"{3:032x}": SourceState({f"{split}": (split, 1_000 * split) for split in range(count)})},
        tasks={
            vertex: tuple(TaskState(chance.randbytes(100)) for _ in range(count)) for vertex in ("source", "reduce")
        },
        counters={f"{number:032x}": ({"records_in": 10, "records_out": 10},) * count for number in range(4)},
    )
