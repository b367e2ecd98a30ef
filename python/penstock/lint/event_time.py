"""What records lack of event time on their way: timestamps, or watermarks that tell how far it has got.

Source of the semantics: docs/time.md. Where nobody knows what a source gives, nothing is lacking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntFlag
from typing import Any

from penstock.plan import StreamEdge, StreamNode
from penstock.runtime.io.frames import FrameSource
from penstock.runtime.io.sources import CollectionSource, SequenceSource
from penstock.runtime.io.splits import SplitSource
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks


class Lack(IntFlag):
    """What is lacking."""

    NOTHING = 0
    TIMESTAMPS = 1
    """Records do not say when they have happened."""
    WATERMARKS = 2
    """Records never end, and event time never advances."""


_BARE = frozenset({"DataGeneratorSource", "FileSource", "FolderMonitor", "NumberSequenceSource", "SocketSource"})
"""Sources of ours whose records have no timestamps."""
_OWN_TIME = frozenset({"HybridSource"})
"""Sources of ours that consist of others, which may have watermarks."""


def lacks(
    nodes: Mapping[int, StreamNode],
    inputs: Mapping[int, Sequence[StreamEdge]],
    operators: Mapping[int, Any],
) -> dict[int, Lack]:
    """What the records that leave each node lack. O(nodes + edges).

    Args:
        nodes: by id, inputs before those that read them; what comes later counts for nothing.
        inputs: edges into each node.
        operators: by node.
    """
    found: dict[int, Lack] = {}
    for node, described in nodes.items():
        operator = operators.get(node)
        above = [found.get(edge.source, Lack.NOTHING) for edge in inputs[node]]
        lack = Lack.NOTHING
        for each in above:
            lack |= each
        if described.kind == "two_input" and not all(Lack.TIMESTAMPS in each for each in above):
            lack &= ~Lack.TIMESTAMPS  # it may emit what one of its inputs brings, and keep the other
        if isinstance(operator, StreamSource):
            lack = of_source(operator)
        strategy = strategy_of(operator)
        found[node] = lack if strategy is None else _behind(strategy, lack)
    return found


def strategy_of(operator: Any) -> Any:
    """The watermark strategy that an operator applies, in a source or behind it; None without one."""
    if isinstance(operator, TimestampsAndWatermarks):
        return operator.strategy
    return operator.watermarks if isinstance(operator, StreamSource) else None


def _behind(strategy: Any, lack: Lack) -> Lack:
    """What records lack behind a strategy; that one of watermarks needs timestamps is the concern of another rule."""
    if strategy.kind != "none":
        return Lack.NOTHING
    return lack if strategy.assigner is None else lack & ~Lack.TIMESTAMPS


def of_source(operator: StreamSource) -> Lack:
    """What the records of a source lack by themselves, before its strategy. O(1)."""
    function = operator.function
    endless = Lack.WATERMARKS if operator.unbounded else Lack.NOTHING
    if isinstance(function, SplitSource):
        source = type(function.source)
        if not source.__module__.startswith("penstock.") or source.__name__ in _OWN_TIME:
            return Lack.NOTHING
        return endless | (Lack.TIMESTAMPS if source.__name__ in _BARE else Lack.NOTHING)
    if isinstance(function, CollectionSource | SequenceSource | FrameSource):
        return endless | Lack.TIMESTAMPS
    return Lack.NOTHING  # a source of the user's: whatever it hands its context to may give timestamps
