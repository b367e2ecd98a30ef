"""Cached streams: where their records are kept between jobs, and which nodes they add to a plan.

In BATCH mode the first job that needs the stream computes it, and two more nodes bring its records to the driver; they
travel with each later job that begins with them. In STREAMING mode it is the stream itself. Source: Flink 2.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from penstock.common.jobs.job import JobExecutionResult
from penstock.connectors.cached_source import CachedSource, Noting, Parts
from penstock.datastream.program.transformations import (
    OneInputTransformation,
    SideOutputTransformation,
    SinkTransformation,
    SourceTransformation,
    Transformation,
)
from penstock.runtime.io.sinks import CollectSink
from penstock.runtime.operators.process import ProcessOperator
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import StreamSource


class CacheTransformation(Transformation):
    """A virtual node for a stream whose records are kept. The two ids after its own are of the nodes that note them."""

    __slots__ = ("input", "noting", "parts")

    def __init__(self, id: int, input: Transformation) -> None:
        name = f"Cache: {input.name}"
        super().__init__(id, name, input.output_type, input.parallelism)
        self.input: Transformation = input
        noting = OneInputTransformation(id + 1, name, None, 1, ProcessOperator(Noting()), self)
        sink = SinkTransformation(id + 2, name, None, 1, StreamSink(CollectSink(self.result_id)), noting)
        self.noting: tuple[OneInputTransformation, SinkTransformation] = (noting, sink)
        self.parts: Parts | None = None

    @property
    def result_id(self) -> str:
        """The key of the records in a job's result."""
        return f"cache-{self.id}"

    def source(self) -> SourceTransformation:
        """The source that replaces the node once the records are known."""
        assert self.parts is not None
        return SourceTransformation(
            self.id, self.name, self.output_type, len(self.parts), StreamSource(CachedSource(self.parts))
        )

    def note(self, default_parallelism: int) -> Iterable[Transformation]:
        """The nodes that bring the records to the driver, at the stream's parallelism."""
        made_by = self.input.input if isinstance(self.input, SideOutputTransformation) else self.input
        self.parallelism = default_parallelism if made_by.parallelism == -1 else made_by.parallelism
        for node in self.noting:
            node.parallelism = self.parallelism
        return self.noting


def keep(caches: Iterable[CacheTransformation], result: JobExecutionResult) -> JobExecutionResult:
    """Move the records of cached streams from a job's result to their nodes."""
    taken = {cache.result_id: cache for cache in caches if cache.result_id in result.collected}
    if not taken:
        return result
    for result_id, cache in taken.items():
        parts: list[list[tuple[int | None, Any]]] = [[] for _ in range(cache.parallelism)]
        records: list[tuple[int, int | None, Any]] = result.collected[result_id]
        for subtask, timestamp, value in records:
            parts[subtask].append((timestamp, value))
        cache.parts = parts
    rest = {result_id: records for result_id, records in result.collected.items() if result_id not in taken}
    return replace(result, collected=rest)
