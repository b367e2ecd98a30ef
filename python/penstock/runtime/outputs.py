"""Outputs of an operator: where its records go, inside the chain and over the exchange.

What Flink builds of ChainingOutput, RecordWriterOutput, BroadcastingOutputCollector and CountingOutput is here one
function per output, so that a record costs one Python call per hop.

A chained operator is given the object itself, as in PyFlink, where nobody else can hold it; a copy (:func:`copying`)
where another reader of the same output, or the state of the operator that emits it, would see it change. So chained and
unchained programs agree. With the setting ``pipeline.object-reuse`` nothing is copied. Over an exchange every record is
its own copy.

Differs from Flink's default, which copies at every step of a chain: a function that changes an object *after* emitting
it shows that to whoever kept the object further down the same chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.runtime.signals import MIN_WATERMARK, Advance, advance_all

Collector = Callable[[Any, "int | None"], None]


def _discard(value: Any, timestamp: int | None) -> None:
    """Nobody reads this output."""


def copying(target: Collector, copy: Callable[[Any], Any], fail: Callable[[BaseException], BaseException]) -> Collector:
    """A collector that gives its target a copy of each record (Flink: CopyingChainingOutput).

    Args:
        target: takes the copies.
        copy: makes them.
        fail: wraps what it raises for a record that cannot be copied in the emitting operator's failure.
    """

    def collect_copy(value: Any, timestamp: int | None) -> None:
        try:
            copied = copy(value)
        except Exception as error:
            raise fail(error) from error
        target(copied, timestamp)

    return collect_copy


def fan_out(targets: Sequence[Collector]) -> Collector:
    """One collector in front of several, which get each record in their order."""
    if not targets:
        return _discard
    if len(targets) == 1:
        return targets[0]
    first, *rest = targets

    def broadcast(value: Any, timestamp: int | None) -> None:
        first(value, timestamp)
        for target in rest:
            target(value, timestamp)

    return broadcast


class Output:
    """The outputs of one operator.

    Args:
        main: targets of the main output.
        sides: targets by id of the side output's tag.
        clocks: what takes watermarks, of main and side outputs, in edge order.

    Attributes:
        collect: emits (value, timestamp) to the main output. Not counted: the operator knows what it emits.
        current_watermark: the last one emitted, MIN_WATERMARK before.
        side_records: records emitted so far by tag id, read by anybody or not.
    """

    __slots__ = ("_advance", "_sides", "collect", "current_watermark", "side_records")

    def __init__(
        self, main: Sequence[Collector], sides: dict[str, list[Collector]], clocks: Sequence[Advance] = ()
    ) -> None:
        self.collect = fan_out(main)
        self.current_watermark = MIN_WATERMARK
        self._advance = advance_all(clocks)
        self._sides = {tag: fan_out(targets) for tag, targets in sides.items()}
        self.side_records: dict[str, int] = {}

    def watermark(self, watermark: int) -> None:
        """Emit a watermark to all outputs."""
        self.current_watermark = watermark
        self._advance(watermark)

    def collect_side(self, tag_id: str, value: Any, timestamp: int | None) -> None:
        """Emit to a side output; without a reader the record is counted and dropped."""
        self.side_records[tag_id] = self.side_records.get(tag_id, 0) + 1
        target = self._sides.get(tag_id)
        if target is not None:
            target(value, timestamp)
