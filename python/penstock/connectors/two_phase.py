"""Sinks of the user's own that prepare in tasks and commit when a step counts: what of them a task runs.

What a task has prepared travels in its report; what is large waits in a file of the checkpoint directory. Who commits
is the driver (:mod:`penstock.job.steps.outputs`). Source of the semantics: ``TwoPhaseCommitSinkFunction`` (Flink 1.20),
and Sink V2's ``CommittingSinkWriter``, which returns a committable at a checkpoint as here."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

from penstock.runtime.buffers.codec import dumps
from penstock.runtime.chain.context import OperatorContext, RuntimeContext
from penstock.runtime.config.tasks import Committable
from penstock.runtime.io.pending_paths import attempt_name, prepared_place
from penstock.runtime.io.sinks import BuiltinSink, SinkWriter
from penstock.runtime.usercode.functions import lifecycle
from penstock.storage.storage import is_local, join, naming
from penstock.storage.stores import storage_of

_INLINE_BYTES = 32 << 10  # what a report and a manifest take


@dataclass(frozen=True, eq=False)
class TwoPhaseOutput(BuiltinSink):
    """A sink with ``write(value)``, ``prepare(version)``, ``commit(committables, version)``; where it has them also
    ``open(context)``, ``abort()`` and ``close()``."""

    sink: Any  # the user's object, of which each subtask has a copy

    def writer(self, context: OperatorContext) -> SinkWriter:
        return _Preparing(self.sink, context)


class _Preparing(SinkWriter):
    def __init__(self, sink: Any, context: OperatorContext) -> None:
        self._sink, self._context = sink, context
        self.write = sink.write

    def write_all(self, values: Sequence[Any]) -> None:
        write = self._sink.write
        for value in values:
            write(value)

    def open(self) -> None:
        self._call("open", RuntimeContext(self._context))

    def flush(self) -> None:
        """Between two checkpoints nothing is prepared, unless the sink keeps all of it in memory."""
        if getattr(self._sink, "gathers", False):
            self.end_step()

    def end_step(self) -> None:
        committable, context = self._sink.prepare(self._context.version), self._context
        if committable is None:
            return
        data = dumps(committable)
        if len(data) <= _INLINE_BYTES or context.job.folder is None:
            _report(context, data, kept=False)
            return
        path, file = prepared_file(context)
        with file, naming(path):
            file.write(data)
            keep_prepared(context, path, file)

    def finish(self) -> None:
        self.end_step()
        self._call("close")

    def discard(self) -> None:
        for name in ("abort", "close"):
            with contextlib.suppress(Exception):  # the failure before it counts
                self._call(name)

    def _call(self, name: str, *arguments: Any) -> None:
        method = lifecycle(self._sink, name)
        if method is not None:
            method(*arguments)


def prepared_file(context: OperatorContext) -> tuple[str, IO[bytes]]:
    """A new file in the checkpoint directory, and its path, which no other attempt has."""
    path = join(prepared_place(context.job), attempt_name(context.config.operator_id, context.subtask))
    return path, storage_of(path).writing(path)


def keep_prepared(context: OperatorContext, path: str, file: IO[bytes]) -> None:
    """Close a prepared file, durably, and name it in the report of the task."""
    with naming(path):
        if is_local(path):
            file.flush()
            os.fsync(file.fileno())
        file.close()
    _report(context, path.encode(), kept=True)


def _report(context: OperatorContext, data: bytes, *, kept: bool) -> None:
    context.committables.append(Committable(context.config.operator_id, context.subtask, data, kept, context.version))
