"""Savepoints and checkpoints of Apache Flink: what they contain, and what a restore from them would do.

:func:`read_savepoint` reads ``_metadata`` (versions 2 to 6) and the headers of state files. :func:`predict_restore`
says whether Flink 1.11 or 2.3 would restore a program, with which message it would refuse, and which max parallelism
each vertex gets. :mod:`penstock.flink.entries` reads the entries of states. Nothing is unpickled, no Java runs.
Savepoints of Penstock are in :mod:`penstock.savepoints`.
"""

from __future__ import annotations

from penstock.flink.metadata import MasterState, Metadata, OperatorState, Subtask
from penstock.flink.plans import plan_of
from penstock.flink.restore import Prediction, Refusal, RestoredVertex, predict_restore
from penstock.flink.savepoint import FlinkSavepoint, read_savepoint

__all__ = [
    "FlinkSavepoint",
    "MasterState",
    "Metadata",
    "OperatorState",
    "Prediction",
    "Refusal",
    "RestoredVertex",
    "Subtask",
    "plan_of",
    "predict_restore",
    "read_savepoint",
]
