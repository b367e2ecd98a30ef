"""Several sources read one after the other (PyFlink: ``pyflink.datastream.connectors.hybrid_source``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, cast

from penstock.common import checks
from penstock.common.typeinfo import TypeInformation
from penstock.runtime.io.splits import LostSplitsError, Records, Source, Split, check_begun

__all__ = ["HybridSource", "HybridSourceBuilder"]

_HINT = "Give a source, such as NumberSequenceSource(1, 100)."


@dataclass(frozen=True)
class HybridSplit(Split):
    """A split of the source with index ``source``; ``split`` is that source's own."""

    source: int = 0
    split: Split = field(default_factory=lambda: Split(""))


class HybridSource(Source[Any]):
    """Reads sources one after the other, all but the last bounded (Flink: ``HybridSource``). Made by :meth:`builder`.

    Each subtask reads its part of the first source, then its part of the next, so their order holds in each subtask,
    and with parallelism 1 globally. If the last source is unbounded, a source begins when all subtasks have finished
    those before.
    """

    def __init__(self, sources: tuple[Source[Any], ...]) -> None:
        self.sources: tuple[Source[Any], ...] = sources
        self.bounded: bool = all(source.bounded for source in sources)
        self.produced_type: TypeInformation[object] | None = sources[0].produced_type
        self._bounded_splits: dict[int, list[Split]] = {}
        self._at_last = self.bounded  # whether the last call has reached the last source

    def __reduce__(self) -> tuple[Any, ...]:
        return HybridSource, (self.sources,)

    def __repr__(self) -> str:
        return f"<HybridSource of {', '.join(map(repr, self.sources))}>"

    @staticmethod
    def builder(first_source: Source[Any]) -> HybridSourceBuilder:
        """Settings of a source before it is made; ``first_source`` is read first."""
        return HybridSourceBuilder(checks.instance(first_source, "HybridSource.builder", Source, _HINT))

    def readable(self) -> bool:
        return all(source.readable() for source in self.sources)

    def splits(self, parallelism: int) -> list[Split]:
        listed = [source.splits(parallelism) for source in self.sources]
        return [split for index, splits in enumerate(listed) for split in self._as_ours(index, splits)]

    def _as_ours(self, index: int, splits: Iterable[Split]) -> list[Split]:
        """Splits of one of the sources as those of this one."""
        bounded = self.sources[index].bounded
        return [
            HybridSplit(
                f"{index}-{split.id}", split.start, split.end, split.weight, bounded or split.finite, index, split
            )
            for split in splits
        ]

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> Sequence[Split]:
        """The unread splits of the first source that is not finished. Bounded sources list them once per run."""
        for index, source in enumerate(self.sources):
            splits = self._pending(index, source, parallelism, positions, over)
            if splits or not source.bounded:
                self._at_last = index == len(self.sources) - 1
                return self._as_ours(index, splits)
        return []

    def available(
        self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()
    ) -> Sequence[Split]:
        self._at_last = True
        splits: list[Split] = []
        for index, source in enumerate(self.sources):
            splits += self._as_ours(index, self._pending(index, source, parallelism, positions, over, all=True))
        return splits

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
        prefix = f"{index}-"
        inner, done = _Positions(prefix, positions), _Over(prefix, over)
        try:
            if not source.bounded:
                return (source.available if all else source.pending)(parallelism, inner, done)
            if index not in self._bounded_splits:
                splits = list(source.splits(parallelism))
                check_begun(source, splits, {name: at for name, at in inner.items() if name not in done})
                self._bounded_splits[index] = splits
        except LostSplitsError as lost:
            lost.splits = tuple(prefix + name for name in lost.splits)
            raise
        splits = [replace(split, start=inner.get(split.id, split.start)) for split in self._bounded_splits[index]]
        return [split for split in splits if split.id not in done and (split.end is None or split.start != split.end)]

    def resume(self, positions: Mapping[str, Any] | None) -> None:
        self._bounded_splits.clear()
        for index, source in enumerate(self.sources):
            source.resume(None if positions is None else dict(_Positions(f"{index}-", positions)) or None)

    def committed(self, positions: Mapping[str, Any]) -> None:
        for index, source in enumerate(self.sources):
            inner = dict(_Positions(f"{index}-", positions))
            if inner:
                source.committed(inner)

    def remembers(self, split: Split) -> bool:
        source, inner = self._inner(split)
        return source.remembers(inner)

    def _inner(self, split: Split) -> tuple[Source[Any], Split]:
        """The source of a split, and its own split, from the position reached."""
        assert isinstance(split, HybridSplit)
        return self.sources[split.source], replace(split.split, start=split.start, end=split.end)

    def ended(self) -> bool:
        return self._at_last and self.sources[-1].ended()

    def limited(self, split: Split, records: int) -> Split:
        source, inner = self._inner(split)
        cut = source.limited(inner, records)
        return replace(cast("HybridSplit", split), start=cut.start, end=cut.end, split=cut)

    def records_in(self, splits: Iterable[Split]) -> int | None:
        """The records of all its sources; None before the last one has been reached."""
        inner_splits: dict[int, list[Split]] = {len(self.sources) - 1: []}
        for split in splits:
            assert isinstance(split, HybridSplit)
            inner_splits.setdefault(split.source, []).append(self._inner(split)[1])
        counts = [self.sources[index].records_in(part) for index, part in inner_splits.items()]
        return sum(filter(None, counts)) if self._at_last and None not in counts else None

    def read(self, split: Split) -> Iterator[Records[Any]]:
        source, inner = self._inner(split)
        return source.read(inner)

    def read_columns(self, split: Split, functions: ModuleType, wanted: bool) -> Iterator[Records[Any]]:
        source, inner = self._inner(split)
        return source.read_columns(inner, functions, wanted)

    def why_objects(self, functions: ModuleType) -> str:
        """The reason of the first of its sources that has one."""
        return next(filter(None, (source.why_objects(functions) for source in self.sources)), "")

    def locations(self) -> tuple[str, ...]:
        return tuple(place for source in self.sources for place in source.locations())

    def close(self) -> None:
        for source in self.sources:
            source.close()


class _Positions(Mapping[str, Any]):
    """The positions of one source by its own ids."""

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
    """The finished ids of one source."""

    def __init__(self, prefix: str, over: Set[str]) -> None:
        self._prefix = prefix
        self._over = over

    def __contains__(self, name: object) -> bool:
        return f"{self._prefix}{name}" in self._over

    def __iter__(self) -> Iterator[str]:
        return _without(self._prefix, self._over)

    def __len__(self) -> int:
        """The number for all sources: it is only compared with that of earlier steps."""
        return len(self._over)


def _without(prefix: str, names: Iterable[str]) -> Iterator[str]:
    return (name[len(prefix) :] for name in names if name.startswith(prefix))


class HybridSourceBuilder:
    """Settings of a :class:`HybridSource`. Methods change it and return it."""

    def __init__(self, first_source: Source[Any]) -> None:
        self._sources = [first_source]

    def add_source(self, source: Source[Any]) -> HybridSourceBuilder:
        """Add the next source: bounded, or, as the last, one that never ends."""
        self._sources.append(checks.instance(source, "HybridSourceBuilder.add_source", Source, _HINT))
        return self

    def build(self) -> HybridSource:
        """The source. Only the last may never end."""
        endless = [source for source in self._sources[:-1] if not source.bounded]
        if endless:
            checks.illegal_argument(
                f"HybridSource: {endless[0]!r} never ends, so sources after it would not be read. Put it last."
            )
        return HybridSource(tuple(self._sources))
