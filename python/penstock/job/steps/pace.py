"""How much a step reads: as many records as can be worked off in the time that a step should take."""

from __future__ import annotations

_FIRST, _LEAST, _MOST = 5_000, 100, 5_000_000


class Pace:
    """Records per subtask of a source and step.

    Args:
        fixed: so many always; 0 to adapt.
        target: milliseconds that a step should take.

    Attributes:
        records: for the next step.
        behind: whether the last step has read all that it might, so that there is probably more.
    """

    behind = False

    def __init__(self, fixed: int, target: int) -> None:
        self._fixed, self._target = fixed, target
        self.records: int = fixed or _FIRST

    def took(self, most: int, millis: float) -> None:
        """A step is over.

        Args:
            most: records that the subtask has read which has read most.
            millis: that it took.
        """
        self.behind = most >= self.records
        if self._fixed or not most:
            return
        fitting = int(most * self._target / max(millis, 1.0))
        if fitting < self.records or self.behind:  # it grows only if what may be read is read
            self.records = min(max(fitting, self.records // 2, _LEAST), 2 * self.records, _MOST)
