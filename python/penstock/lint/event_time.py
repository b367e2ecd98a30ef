"""The parts of event time that records lack on their way: timestamps, or watermarks. Source of the semantics:
docs/time.md. Unknown sources lack nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntFlag
from functools import reduce
from typing import Any

from penstock.connectors.spark.frames import FrameSource
from penstock.plan import StreamEdge, StreamNode
from penstock.runtime.io.sources import CollectionSource, SequenceSource
from penstock.runtime.io.splits import SplitSource
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks


class Lack(IntFlag):
    """The missing parts of event time."""

    NOTHING = 0
    TIMESTAMPS = 1
    """Records have no timestamp."""
    WATERMARKS = 2
    """Records never end, and event time never advances."""


_BARE = frozenset({"DataGeneratorSource", "FileSource", "FolderMonitor", "NumberSequenceSource", "SocketSource"})
"""Sources of ours whose records have no timestamps."""
_OWN_TIME = frozenset({"HybridSource"})  # sources of ours that consist of others, which may have watermarks


def lacks(
    nodes: Mapping[int, StreamNode], inputs: Mapping[int, Sequence[StreamEdge]], operators: Mapping[int, Any]
) -> dict[int, Lack]:
    """The lack of the records that leave each node. Nodes are in order, inputs before readers. O(nodes + edges)."""
    by_node: dict[int, Lack] = {}
    for node, described in nodes.items():
        operator = operators.get(node)
        above = [by_node.get(edge.source, Lack.NOTHING) for edge in inputs[node]]
        lack = reduce(Lack.__or__, above, Lack.NOTHING)
        if described.kind == "two_input" and not all(Lack.TIMESTAMPS in lacks_above for lacks_above in above):
            lack &= ~Lack.TIMESTAMPS  # it may emit one of its inputs, and keep the other
        if isinstance(operator, StreamSource):
            lack = of_source(operator)
        strategy = strategy_of(operator)
        if strategy is not None and strategy.kind != "none":
            lack = Lack.NOTHING  # another rule checks that watermarks need timestamps
        elif strategy is not None and strategy.assigner is not None:
            lack &= ~Lack.TIMESTAMPS
        by_node[node] = lack
    return by_node


def strategy_of(operator: Any) -> Any:
    """The watermark strategy that an operator applies, in a source or behind it; None without one."""
    if isinstance(operator, TimestampsAndWatermarks):
        return operator.strategy
    return operator.watermarks if isinstance(operator, StreamSource) else None


def of_source(operator: StreamSource) -> Lack:
    """The lack of the records of a source, before its strategy. O(1)."""
    function = operator.function
    endless = Lack.WATERMARKS if operator.unbounded else Lack.NOTHING
    if isinstance(function, SplitSource):
        source = type(function.source)
        if not source.__module__.startswith("penstock.") or source.__name__ in _OWN_TIME:
            return Lack.NOTHING
        return endless | (Lack.TIMESTAMPS if source.__name__ in _BARE else Lack.NOTHING)
    if isinstance(function, CollectionSource | SequenceSource | FrameSource):
        return endless | Lack.TIMESTAMPS
    return Lack.NOTHING  # a source of the user's may emit timestamps
