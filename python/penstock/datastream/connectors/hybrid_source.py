"""Several sources as one, read one after the other (PyFlink: ``pyflink.datastream.connectors.hybrid_source``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from penstock.common import checks
from penstock.common.typeinfo import TypeInformation
from penstock.runtime.io.splits import Records, Source, Split

__all__ = ["HybridSource", "HybridSourceBuilder"]

_HINT = "Give a source, such as NumberSequenceSource(1, 100)."


@dataclass(frozen=True)
class HybridSplit(Split):
    """A split of one of several sources.

    Attributes:
        source: which, from 0.
        split: what that source calls it.
    """

    source: int = 0
    split: Split = field(default_factory=lambda: Split(""))


class HybridSource(Source[Any]):
    """Reads bounded sources one after the other (Flink: ``HybridSource``). Made by :meth:`builder`.

    A subtask reads its part of the first source, then its part of the next: their order is kept in each subtask, and
    with parallelism 1 altogether. It runs if all of them are bounded and say how they are read.

    Args:
        sources: in their order.
    """

    def __init__(self, sources: tuple[Source[Any], ...]) -> None:
        self.sources: tuple[Source[Any], ...] = sources
        self.bounded: bool = all(source.bounded for source in sources)
        self.produced_type: TypeInformation[object] | None = sources[0].produced_type

    def __repr__(self) -> str:
        return f"<HybridSource of {', '.join(map(repr, self.sources))}>"

    @staticmethod
    def builder(first_source: Source[Any]) -> HybridSourceBuilder:
        """Settings of a source before it is made.

        Args:
            first_source: what is read first.
        """
        return HybridSourceBuilder(checks.instance(first_source, "HybridSource.builder", Source, _HINT))

    def readable(self) -> bool:
        """Whether all of the sources say how they are read."""
        return all(source.readable() for source in self.sources)

    def splits(self, parallelism: int) -> list[Split]:
        """The splits of all sources."""
        return [
            HybridSplit(f"{index}-{split.id}", weight=split.weight, source=index, split=split)
            for index, source in enumerate(self.sources)
            for split in source.splits(parallelism)
        ]

    def read(self, split: Split) -> Iterator[Records[Any]]:
        """The records of a split of one of the sources."""
        assert isinstance(split, HybridSplit)
        return self.sources[split.source].read(split.split)


class HybridSourceBuilder:
    """Settings of a :class:`HybridSource`. Methods change it and return it.

    Args:
        first_source: what is read first.
    """

    def __init__(self, first_source: Source[Any]) -> None:
        self._sources = [first_source]

    def add_source(self, source: Source[Any]) -> HybridSourceBuilder:
        """What is read next.

        Args:
            source: bounded; the last may be one that never ends, and is then planned only.
        """
        self._sources.append(checks.instance(source, "HybridSourceBuilder.add_source", Source, _HINT))
        return self

    def build(self) -> HybridSource:
        """The source.

        Raises:
            InvalidProgramError: one that never ends is not the last.
        """
        endless = [source for source in self._sources[:-1] if not source.bounded]
        if endless:
            checks.illegal_argument(
                f"HybridSource: {endless[0]!r} never ends, so nothing behind it would be read. Put it last."
            )
        return HybridSource(tuple(self._sources))
