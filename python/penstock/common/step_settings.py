"""The settings of programs that never end: where they keep what they know, how much a step reads, who sees it."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.common.setting import Choice, Flag, Ports, Span, Text, Whole, line

_LARGEST_INT = 2**31 - 1


@dataclass(frozen=True)
class StepSettings:
    """What a program that runs in steps is told."""

    # fmt: off
    job_folder: str | None = line(
        "penstock.job.folder", Text(), None, "steps",
        "Where a program that runs in steps keeps its state, a path or a URL; run again with the same one, it goes on "
        "from there. Unset: a temporary folder.",
    )
    retained: int = line(
        "penstock.job.retained-manifests", Whole(1, _LARGEST_INT), 2, "steps",
        "How many of the newest versions stay in the job folder, to go back to by JOB@VERSION.",
        "state.checkpoints.num-retained",
    )
    savepoints: str | None = line(
        "state.savepoints.dir", Text(), None, "steps",
        "Where savepoints go for which no folder is said, a path or a URL.", "execution.checkpointing.savepoint-dir",
    )
    savepoint_reference: bool = line(
        "penstock.savepoint.reference", Flag(), False, "steps",
        "Whether a savepoint refers to the state in the job folder, which keeps it then, and has no copy of it.",
    )
    savepoint: str | None = line(
        "execution.savepoint.path", Text(), None, "steps",
        "What a new job begins from: a savepoint, or `JOB` or `JOB@VERSION` for a version of a job folder.",
        "execution.state-recovery.path",
    )
    ignore_unclaimed: bool = line(
        "execution.savepoint.ignore-unclaimed-state", Flag(), False, "steps",
        "Whether state that no operator of the program takes may be left behind.",
        "execution.state-recovery.ignore-unclaimed-state",
    )
    step_records: int = line(
        "penstock.step.records", Whole(0, _LARGEST_INT), 0, "steps",
        "Most records that a subtask of a source reads in a step; 0 for as many as fit the target.",
    )
    step_target: int = line(
        "penstock.step.target", Span(1), 1_000, "steps", "How long a step should take while there is much to read."
    )
    available_now: bool = line(
        "penstock.step.available-now", Flag(), False, "steps",
        "Whether the program ends when it has read what is there; windows that are open stay open.",
    )
    reactive: bool = line(
        "scheduler-mode", Choice({"default": False, "reactive": True}), False, "steps",
        "With reactive, operators whose parallelism the program leaves to its environment have as many subtasks as "
        "there are cores, at each start and when there are more or fewer.",
    )
    prometheus_ports: tuple[int, int] | None = line(
        "penstock.metrics.prometheus.port", Ports(), None, "executor",
        "Where the driver answers Prometheus while a job runs; of a range the first free port, 0 for any.",
        "metrics.reporter.prom.port",
    )
    # fmt: on
