"""Valve: the watermark and idleness of one input, out of those of its channels.

The input's watermark is the minimum over its channels; idle and finished channels do not hold it back. A channel that
comes back from idleness counts again when it has caught up with what the minimum has become meanwhile. Only growing
watermarks pass.

Source of the semantics: ``StatusWatermarkValve`` (Flink 1.11). Cost: O(channels) per watermark of the channel that is
last, O(1) for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK, Advance


@dataclass(slots=True)
class _Channel:
    watermark: int = MIN_WATERMARK
    active: bool = True
    aligned: bool = True


class Valve:
    """The channels of one input. ``advance`` takes its watermark, ``toggle`` whether any channel is active, when
    that changes."""

    def __init__(self, channels: Iterable[Hashable], advance: Advance, toggle: Callable[[bool], None]) -> None:
        self._channels = {name: _Channel() for name in channels}
        self._advance = advance
        self._toggle = toggle
        self._last = MIN_WATERMARK
        self.active = True

    def volatile(self) -> tuple[int, bool, list[tuple[Hashable, int, bool, bool]]]:
        """What it knows at the end of a step, as plain data."""
        known = [(name, each.watermark, each.active, each.aligned) for name, each in self._channels.items()]
        return self._last, self.active, known

    def resume(self, volatile: tuple[int, bool, list[tuple[Hashable, int, bool, bool]]]) -> None:
        """Know what another one knew of the channels that are here too."""
        self._last, self.active, known = volatile
        for name, watermark, active, aligned in known:
            channel = self._channels.get(name)
            if channel is not None:
                channel.watermark, channel.active, channel.aligned = watermark, active, aligned

    def watermark(self, name: Hashable, watermark: int) -> None:
        channel = self._channels[name]
        before = channel.watermark
        if watermark <= before or not channel.active:
            return
        channel.watermark = watermark
        if not channel.aligned:
            if watermark < self._last:
                return
            channel.aligned = True
        elif before > self._last:  # others hold the minimum back
            return
        self._pass_minimum()

    def status(self, name: Hashable, active: bool) -> None:
        """A channel has fallen idle, or has come back."""
        channel = self._channels[name]
        if channel.active is active:
            return
        channel.active = active
        if not active:
            self._idle(channel)
            return
        if channel.watermark >= self._last:
            channel.aligned = True
        if not self.active:
            self.active = True
            self._toggle(True)

    def end(self, name: Hashable) -> None:
        """A channel has ended: it comes back if it was idle, and holds nobody back any more."""
        self.status(name, True)
        self.watermark(name, MAX_WATERMARK)

    def end_all(self) -> None:
        """All channels have ended; the input's watermark is MAX_WATERMARK, also if it has no channel."""
        for name in self._channels:
            self.end(name)
        self._output(MAX_WATERMARK)

    def _idle(self, channel: _Channel) -> None:
        channel.aligned = False
        if any(other.active for other in self._channels.values()):
            if channel.watermark == self._last:
                self._pass_minimum()
            return
        if channel.watermark == self._last:
            self._output(max(other.watermark for other in self._channels.values()))
        self.active = False
        self._toggle(False)

    def _pass_minimum(self) -> None:
        aligned = [channel.watermark for channel in self._channels.values() if channel.aligned]
        if aligned:
            self._output(min(aligned))

    def _output(self, watermark: int) -> None:
        if watermark > self._last:
            self._last = watermark
            self._advance(watermark)
