"""CachedDataStream: a stream that is computed once for several jobs.

Source: Flink 2.3 ``CachedDataStream``.
"""

from __future__ import annotations

from typing import TypeVar

from penstock.common import checks
from penstock.datastream.program.cached_streams import CacheTransformation
from penstock.datastream.program.transformations import PhysicalTransformation, SideOutputTransformation
from penstock.datastream.streams.data_stream import DataStream

T = TypeVar("T", covariant=True)


class CachedDataStream(DataStream[T]):
    """A stream of records of type ``T`` that the first job that needs it computes, and that is kept for later jobs of
    the environment. Made by :meth:`DataStream.cache`."""

    __slots__ = ("_cache",)

    def __init__(self, stream: DataStream[T]) -> None:
        program, before = stream.get_execution_environment(), stream.transformation
        if not isinstance(before, PhysicalTransformation | SideOutputTransformation):
            checks.refuse(
                f"cache() of {before.name!r}: only what an operator emits can be cached, not how records travel. Call "
                "cache() on the operator before it, or map() first.",
                checks.ILLEGAL_STATE,
            )
        cache = CacheTransformation(program.next_id(), before)
        for _ in cache.noting:
            program.next_id()
        super().__init__(program, cache)
        self._cache = cache

    def invalidate(self) -> None:
        """Forget the records; the next job that needs them computes them again."""
        self._cache.parts = None
