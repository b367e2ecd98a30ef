"""Several sources as one, read one after the other (PyFlink: ``pyflink.datastream.connectors.hybrid_source``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
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
    """Reads sources one after the other, all but the last bounded (Flink: ``HybridSource``). Made by :meth:`builder`.

    A subtask reads its part of the first source, then its part of the next: their order is kept in each subtask, and
    with parallelism 1 altogether. If the last one never ends, a source begins when all subtasks have read those before.

    Args:
        sources: in their order.
    """

    def __init__(self, sources: tuple[Source[Any], ...]) -> None:
        self.sources: tuple[Source[Any], ...] = sources
        self.bounded: bool = all(source.bounded for source in sources)
        self.produced_type: TypeInformation[object] | None = sources[0].produced_type
        self._asked: dict[int, list[Split]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return HybridSource, (self.sources,)

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
            _split(index, split, finite=source.bounded or split.finite)
            for index, source in enumerate(self.sources)
            for split in source.splits(parallelism)
        ]

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> Sequence[Split]:
        """What is to be read of the first source that is not over; one that is bounded is asked once in a run."""
        if not positions and not over:  # another job's
            self._asked.clear()
        for index, source in enumerate(self.sources):
            found = self._pending(index, source, parallelism, positions, over)
            if found or not source.bounded:
                return [_split(index, split, finite=source.bounded or split.finite) for split in found]
        return []

    def available(
        self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()
    ) -> Sequence[Split]:
        """What is to be read of all sources, in their order."""
        if not positions and not over:
            self._asked.clear()
        return [
            _split(index, split, finite=source.bounded or split.finite)
            for index, source in enumerate(self.sources)
            for split in self._pending(index, source, parallelism, positions, over, all=True)
        ]

    def _pending(
        self,
        index: int,
        source: Source[Any],
        parallelism: int,
        positions: Mapping[str, Any],
        over: Set[str],
        *,
        all: bool = False,
    ) -> Sequence[Split]:
        inner, done = _Positions(f"{index}-", positions), _Over(f"{index}-", over)
        if not source.bounded:
            return (source.available if all else source.pending)(parallelism, inner, done)
        if index not in self._asked:
            self._asked[index] = list(source.splits(parallelism))
        begun = (replace(each, start=inner.get(each.id, each.start)) for each in self._asked[index])
        return [each for each in begun if each.id not in done and (each.end is None or each.start != each.end)]

    def ended(self) -> bool:
        """Whether the last source has."""
        return self.sources[-1].ended()

    def limited(self, split: Split, records: int) -> Split:
        """As its source cuts it."""
        assert isinstance(split, HybridSplit)
        cut = self.sources[split.source].limited(_inner(split), records)
        return replace(split, start=cut.start, end=cut.end, split=cut)

    def read(self, split: Split) -> Iterator[Records[Any]]:
        """The records of a split of one of the sources."""
        assert isinstance(split, HybridSplit)
        return self.sources[split.source].read(_inner(split))

    def locations(self) -> tuple[str, ...]:
        """Those of all sources."""
        return tuple(place for source in self.sources for place in source.locations())

    def close(self) -> None:
        """Close all sources."""
        for source in self.sources:
            source.close()


def _split(index: int, split: Split, *, finite: bool) -> HybridSplit:
    name = f"{index}-{split.id}"
    return HybridSplit(name, split.start, split.end, split.weight, finite, source=index, split=split)


def _inner(split: HybridSplit) -> Split:
    """As its source knows it, from where it has been left."""
    return replace(split.split, start=split.start, end=split.end)


class _Positions(Mapping[str, Any]):
    """Those of one source, by its own ids."""

    def __init__(self, prefix: str, positions: Mapping[str, Any]) -> None:
        self._prefix = prefix
        self._positions = positions

    def __getitem__(self, name: str) -> Any:
        return self._positions[self._prefix + name]

    def __iter__(self) -> Iterator[str]:
        return _without(self._prefix, self._positions)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Over(Set[str]):
    """The ids of one source."""

    def __init__(self, prefix: str, over: Set[str]) -> None:
        self._prefix = prefix
        self._over = over

    def __contains__(self, name: object) -> bool:
        return f"{self._prefix}{name}" in self._over

    def __iter__(self) -> Iterator[str]:
        return _without(self._prefix, self._over)

    def __len__(self) -> int:
        """How many there are of all sources: it is asked for whether it has grown, in every step."""
        return len(self._over)


def _without(prefix: str, names: Iterable[str]) -> Iterator[str]:
    return (name[len(prefix) :] for name in names if name.startswith(prefix))


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
            source: bounded; the last may be one that never ends.
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
