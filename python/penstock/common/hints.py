"""Hints: options of Flink for what is not here, its checkpoints, its serializers, the end of its tasks. They are kept
and given back, by methods and by keys of a configuration alike, and nothing acts by them."""

from __future__ import annotations

from typing import Any

from penstock.common.setting import Choice, Flag, Kind, Setting, Span


def _hint(key: str, kind: Kind, default: Any, later: str | None = None) -> Setting:
    return Setting(key, kind, default, "nobody", "It is kept and given back, and means nothing here.", later)


CLOSURE_CLEANER = _hint("pipeline.closure-cleaner-level", Choice.of("RECURSIVE", "TOP_LEVEL", "NONE"), "RECURSIVE")
FORCE_AVRO = _hint("pipeline.force-avro", Flag(), False)
FORCE_KRYO = _hint("pipeline.force-kryo", Flag(), False)
GENERIC_TYPES = _hint("pipeline.generic-types", Flag(), True)
CANCELLATION_INTERVAL = _hint("task.cancellation.interval", Span(), 30_000)
CANCELLATION_TIMEOUT = _hint("task.cancellation.timeout", Span(), 180_000)
SNAPSHOT_COMPRESSION = _hint("execution.checkpointing.snapshot-compression", Flag(), False)
