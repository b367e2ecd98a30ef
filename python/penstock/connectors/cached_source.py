"""The records of a cached stream: noted in the job that computes them, emitted by the jobs after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.common.contexts import Context, RuntimeContext, SourceContext

Parts = list[list[tuple["int | None", Any]]]  # (timestamp, record) pairs by subtask, in order


class Noting:
    """Makes (subtask, timestamp, record) of each record."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self._subtask = runtime_context.get_index_of_this_subtask()

    def process_element(self, value: Any, ctx: Context) -> Iterator[tuple[int, int | None, Any]]:
        yield self._subtask, ctx.timestamp(), value


class CachedSource:
    """Emits in each subtask what was noted in the one of that number."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def open(self, runtime_context: RuntimeContext) -> None:
        """In a subtask: the other ones' records are not needed."""
        self._parts = [self._parts[runtime_context.get_index_of_this_subtask()]]

    def run(self, ctx: SourceContext[Any]) -> None:
        collect = ctx.collect_with_timestamp
        for timestamp, value in self._parts[0]:
            collect(value, timestamp)
