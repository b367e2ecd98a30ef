"""Options of Flink without a meaning here: they are set and given back."""

from __future__ import annotations

from typing import Any

from penstock.common.settings.setting import Choice, Flag, Kind, Setting, Span, Whole

_LARGEST_INT = 2**31 - 1


def _hint(key: str, kind: Kind, default: Any, *others: str) -> Setting:
    return Setting(key, kind, default, "nobody", "It is only kept and given back.", others)


CLOSURE_CLEANER = _hint("pipeline.closure-cleaner-level", Choice.of("RECURSIVE", "TOP_LEVEL", "NONE"), "RECURSIVE")
FORCE_AVRO = _hint("pipeline.force-avro", Flag(), False)
FORCE_KRYO = _hint("pipeline.force-kryo", Flag(), False)
GENERIC_TYPES = _hint("pipeline.generic-types", Flag(), True)
CANCELLATION_INTERVAL = _hint("task.cancellation.interval", Span(), 30_000)
CANCELLATION_TIMEOUT = _hint("task.cancellation.timeout", Span(), 180_000)
SNAPSHOT_COMPRESSION = _hint("execution.checkpointing.snapshot-compression", Flag(), False)

UNALIGNED = _hint("execution.checkpointing.unaligned", Flag(), False, "execution.checkpointing.unaligned.enabled")
FORCE_UNALIGNED = _hint("execution.checkpointing.unaligned.forced", Flag(), False)
ALIGNED_TIMEOUT = _hint(
    "execution.checkpointing.alignment-timeout", Span(), 0, "execution.checkpointing.aligned-checkpoint-timeout"
)
CHECKPOINT_TIMEOUT = _hint("execution.checkpointing.timeout", Span(10), 600_000)
MIN_PAUSE = _hint("execution.checkpointing.min-pause", Span(), 0)
MAX_CONCURRENT = _hint("execution.checkpointing.max-concurrent-checkpoints", Whole(1, _LARGEST_INT), 1)
TOLERABLE_FAILURES = _hint("execution.checkpointing.tolerable-failed-checkpoints", Whole(0, _LARGEST_INT), 0)
RETENTION = _hint(
    "execution.checkpointing.externalized-checkpoint-retention",
    Choice.of("DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION", "NO_EXTERNALIZED_CHECKPOINTS"),
    None,
)
CHANGELOG = _hint("state.backend.changelog.enabled", Flag(), None, "state.changelog.enabled")
