"""Time in BATCH mode, where an operator sees one key after the other.

While the records of a key come, nothing is known of time: the watermark is the smallest there is, so nothing is late.
When the key has ended, it is the end of time: its timers of event time fire, in order, then those of the clock,
whatever the clock says. What they register is ignored, so that a timer that always registers another one comes to an
end.

Source of the semantics: ``BatchExecutionInternalTimeService`` (Flink 1.20).
"""

from __future__ import annotations

import logging
from typing import Any

from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.state.timers import OperatorTime

_LOG = logging.getLogger("penstock")


class BatchTime(OperatorTime):
    """What an operator of a job in BATCH mode knows of time, and its timers."""

    __slots__ = ("_warned",)

    def end_key(self) -> None:
        """All records of the current key have come."""
        if self._state is None:
            return
        self.watermark: int = MAX_WATERMARK
        self._fire(self._state.event_timers, None, self._on_event_time)
        self._fire(self._state.processing_timers, None, self._on_processing_time)
        self.watermark = MIN_WATERMARK

    def register_event_time(self, time: int, namespace: Any = None) -> None:
        if not self._ignored(time):
            super().register_event_time(time, namespace)

    def register_processing_time(self, time: int, namespace: Any = None) -> None:
        state = self._state
        if not self._ignored(time):
            state.processing_timers.add(time, state.slot, state.current_key, namespace)

    def _ignored(self, time: int) -> bool:
        if self.watermark != MAX_WATERMARK:
            return False
        if not hasattr(self, "_warned"):
            self._warned = True
            _LOG.warning(
                "A timer for %s was registered while the timers of a key fired at its end, and is ignored, as are all "
                "such timers of this operator: in BATCH mode there is no time after the end of a key.",
                time,
            )
        return True
